// The ways out of a dialog whose request is stale.
import { consoleModule } from '../../../support/console-actions'

test('a dialog that was opened again first leaves out what it has seen, and then makes a stale plan again as others do', () => {
  type Dialog = { heldBySeen(isReopened: boolean | undefined, observed: object | undefined): boolean }
  const { heldBySeen } = consoleModule<Dialog>('parts/request-dialog.tsx')
  const observed = { etag: '"instance/u/1"', facts: {} }
  expect([heldBySeen(true, observed), heldBySeen(true, undefined), heldBySeen(undefined, observed)]).toEqual([
    ...[true, false, false],
  ])
})
