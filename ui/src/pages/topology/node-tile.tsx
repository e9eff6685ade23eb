// A node in the picture: its used memory, its instances as dots, and events on it.
import { memo } from 'react'
import { sizeText } from '../../format/size'
import { texts } from '../../texts'
import { BAD_STATES, type Instance } from '../instances/instance'
import type { ClusterNode } from '../nodes/node'
import { type Mark, memoryShare, type Moved } from './cluster-picture'

const own = texts.topology.tile

interface TileProps {
  readonly node: ClusterNode
  /** Shown in the picture if there is room. */
  readonly name: string
  readonly mark: Mark
  readonly wide: boolean
  readonly chosen: boolean
  /** Whether the Tab key leads to it. */
  readonly current: boolean
  readonly instances: readonly Instance[] | undefined
}

export const NodeTile = memo(function NodeTile({ node, name, mark, wide, chosen, current, instances }: TileProps) {
  const share = memoryShare(node)
  const label = labelOf(node, mark)
  const classes = ['tile', ...classesOf(node, mark)]
  return (
    <div
      role="option"
      aria-selected={chosen}
      aria-label={label}
      title={label}
      tabIndex={current ? 0 : -1}
      data-node={node.name}
      className={classes.join(' ')}
    >
      {wide && (
        <span className="tile-name">
          <span>{name}</span>
          {mark.gives.instances > 0 && <b data-change={`−${mark.gives.instances}`} />}
          {mark.gains.instances > 0 && <b data-change={`+${mark.gains.instances}`} />}
        </span>
      )}
      {wide && mark.gives.mirrors + mark.gains.mirrors > 0 && (
        <span className="tile-mirrors" data-change={own.mirrors(mark.gives.mirrors, mark.gains.mirrors)} />
      )}
      <span className="tile-bar">
        {share !== undefined && (
          <span style={wide ? { width: `${share * 100}%` } : { height: `${share * 100}%`, width: '100%' }} />
        )}
      </span>
      {wide && instances !== undefined && <Dots instances={instances} />}
    </div>
  )
})

const isAny = ({ instances, mirrors }: Moved): boolean => instances + mirrors > 0

function classesOf({ role }: ClusterNode, { dead, noReserve, gains, gives }: Mark): string[] {
  const classes: readonly (readonly [boolean, string])[] = [
    [dead || role === 'O', 'tile-dead'],
    [role === 'D', 'tile-drained'],
    [noReserve, 'tile-no-reserve'],
    [isAny(gains), 'tile-gaining'],
    [isAny(gives) && !dead, 'tile-giving'],
  ]
  return classes.flatMap(([is, name]) => (is ? [name] : []))
}

export function labelOf(node: ClusterNode, { dead, noReserve, gains, gives }: Mark): string {
  const { mfree, mtotal, role, pinst_cnt: primary, sinst_cnt: secondary } = node
  const memory =
    typeof mfree === 'number' && typeof mtotal === 'number'
      ? own.memory(sizeText(mtotal - mfree), sizeText(mtotal))
      : own.unknown
  return [
    node.name,
    texts.nodes.role[role ?? ''] ?? role ?? '',
    memory,
    own.counts(primary ?? 0, secondary ?? 0),
    ...(dead ? [own.dead] : []),
    ...(isAny(gives) ? [own.gives(own.moved(gives))] : []),
    ...(isAny(gains) ? [own.gains(own.moved(gains))] : []),
    ...(noReserve ? [own.noReserve] : []),
  ].join(', ')
}

const PER_ROW = 16
const STEP_PX = 8
const SHOWN_MAX = 8 * PER_ROW

type Kind = 'running' | 'stopped' | 'wrong'

/** One path for all dots that look the same, because thousands of elements would be slow. */
function Dots({ instances }: { instances: readonly Instance[] }) {
  const paths: Record<Kind, string> = { running: '', stopped: '', wrong: '' }
  instances.slice(0, SHOWN_MAX).forEach(({ status }, at) => {
    const [x, y] = [(at % PER_ROW) * STEP_PX + STEP_PX / 2, Math.floor(at / PER_ROW) * STEP_PX + STEP_PX / 2]
    paths[kindOf(status)] += `M${x} ${y}h.01`
  })
  const rows = Math.ceil(Math.min(instances.length, SHOWN_MAX) / PER_ROW)
  return (
    <span className="tile-dots">
      <svg width={PER_ROW * STEP_PX} height={rows * STEP_PX} aria-hidden="true" focusable="false">
        {(Object.keys(paths) as Kind[]).map((kind) =>
          paths[kind] === '' ? null : <path key={kind} className={`dots-${kind}`} d={paths[kind]} />,
        )}
      </svg>
      {instances.length > SHOWN_MAX && <b data-change={`+${instances.length - SHOWN_MAX}`} />}
    </span>
  )
}

function kindOf(status: string | null | undefined): Kind {
  if (status === 'running') return 'running'
  return BAD_STATES.includes(status ?? '') ? 'wrong' : 'stopped'
}
