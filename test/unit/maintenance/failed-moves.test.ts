// An instance whose move for a balance has failed rests until something changes, or for a while.
import { FailedMoves } from '../../../src/maintenance/failed-moves'
import type { ConfigData } from '../../../src/model/config'
import { BALANCE_AGAIN_S } from '../../../src/model/limits/maintenance'
import { clockAt } from '../../support/instant-clock'
import { goldenConfig } from '../../support/golden-query'

test('it rests, until its time is over, or it or one of its nodes has changed', async () => {
  const clock = clockAt(1e12)
  let config: ConfigData = goldenConfig()
  const failed = new FailedMoves(clock, () => config)
  const [instance] = Object.values(config.instances)
  const [first, second] = Object.values(config.nodes)
  if (instance === undefined || first === undefined || second === undefined) throw new Error('the cluster is too small')
  const fails = () => failed.note({ instances: [instance.name], nodes: [first.name] })
  expect(failed.resting()).toEqual([])
  fails()
  expect(failed.resting()).toEqual([instance.name])
  config = { ...config, nodes: { ...config.nodes, [second.uuid]: { ...second, serial_no: second.serial_no + 1 } } }
  expect(failed.resting()).toEqual([instance.name])
  config = { ...config, nodes: { ...config.nodes, [first.uuid]: { ...first, serial_no: first.serial_no + 1 } } }
  expect(failed.resting()).toEqual([])
  fails()
  config = { ...config, instances: { [instance.uuid]: { ...instance, serial_no: instance.serial_no + 1 } } }
  expect(failed.resting()).toEqual([])
  fails()
  await clock.sleep(BALANCE_AGAIN_S * 1000)
  expect(failed.resting()).toEqual([])
})
