// The master's orders to the daemons of a node reach systemd, if the node can have these daemons.
import { systemDaemons, type SystemDaemonsOptions } from '../../../../src/daemons/supervisor/system-daemons'
import { ROLES } from '../../../../src/roles/table'

/** With units that only note what they are told. */
function daemons() {
  const reported: string[] = []
  const units = {
    start: async (program: string) => void reported.push(`start ${program}`),
    stop: async (program: string) => void reported.push(`stop ${program}`),
  }
  return { told: reported, control: systemDaemons({ roles: ROLES, units } as unknown as SystemDaemonsOptions) }
}

test('the master has daemons of a node started and stopped by their names', async () => {
  const { control, told: reported } = daemons()
  await expect(control.ensure('ganeti-kvmd', true)).resolves.toBe(true)
  await expect(control.ensure('ganeti-kvmd', false)).resolves.toBe(true)
  expect(reported).toEqual(['start ganeti-kvmd', 'stop ganeti-kvmd'])
})

test('one that this node cannot have never reaches systemd', async () => {
  const { control, told: reported } = daemons()
  await expect(control.ensure('ganeti-sim', true)).rejects.toThrow('there is no ganeti-sim to start')
  await expect(control.ensure('ganeti-masterd', false)).resolves.toBe(true)
  await expect(control.ensure('ganeti-noded', false)).rejects.toThrow('ganeti-noded cannot start or stop itself')
  expect(reported).toEqual([])
})
