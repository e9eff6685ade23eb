// Dialogs of actions that concern no single object. The search offers them on every page.
import { ADD_GROUP } from '../pages/groups/actions'
import { CLUSTER_ACTIONS } from '../pages/cluster/actions'
import { DRAIN, UNDRAIN } from '../pages/jobs/actions'
import { PAUSE_WATCHER } from '../pages/maintenance/actions'
import { ADD_NETWORK } from '../pages/networks/actions'
import { ADD_NODE } from '../pages/nodes/actions'
import { ADD_RULE } from '../pages/rules/actions'
import { MAKE_TOKEN } from '../pages/access/actions'
import { type Action, ActionDialog } from '../parts/action'

const [VERIFY, REDISTRIBUTE] = CLUSTER_ACTIONS

/** Actions by their id in `texts.doing`. */
const ACTIONS: Readonly<Record<string, Action<null> | undefined>> = {
  ...{ verify: VERIFY, redistribute: REDISTRIBUTE, 'pause-watcher': PAUSE_WATCHER, drain: DRAIN, undrain: UNDRAIN },
  ...{ 'add-group': ADD_GROUP, 'add-network': ADD_NETWORK, 'add-node': ADD_NODE, 'add-rule': ADD_RULE },
  'make-token': MAKE_TOKEN,
}

export function ClusterAction({ id, close }: { id: string; close: () => void }) {
  const action = ACTIONS[id]
  return action === undefined ? null : <ActionDialog action={action} subject={null} close={close} />
}
