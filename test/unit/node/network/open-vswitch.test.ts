// Open vSwitch is configured with its own program.
import { configureOpenvSwitch } from '../../../../src/node/network/open-vswitch'
import { recordedPrograms } from '../../../support/recorded-programs'

const ADD = 'ovs-vsctl --may-exist add-br switch1'

test('a switch is made, and joined to a device if one is named', async () => {
  const programs = recordedPrograms([
    { argv: ADD },
    { argv: ADD },
    { argv: 'ovs-vsctl --may-exist add-port switch1 eth1' },
  ])
  await configureOpenvSwitch(programs.run, 'switch1', null)
  await configureOpenvSwitch(programs.run, 'switch1', 'eth1')
  expect(programs.left()).toEqual([])
})

test('a failure is told with the words of the program, and the rest is left', async () => {
  const stderr =
    'ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed (No such file or directory)\n'
  const { run, asked } = recordedPrograms([{ argv: ADD, code: 1, stderr }])
  await expect(configureOpenvSwitch(run, 'switch1', 'eth1')).rejects.toThrow(
    `Failed to create openvswitch. Script return value: 1, output: '${stderr.trim()}'`,
  )
  expect(asked.length).toBe(1)
  const join = recordedPrograms([
    { argv: ADD },
    {
      argv: 'ovs-vsctl --may-exist add-port switch1 eth1',
      code: 1,
      stderr: 'ovs-vsctl: cannot create a port named eth1 because a bridge named eth1 already exists\n',
    },
  ])
  await expect(configureOpenvSwitch(join.run, 'switch1', 'eth1')).rejects.toThrow(
    'Failed to connect openvswitch to interface eth1. Script return value: 1',
  )
})

test('a text that is no name of an interface reaches no program', async () => {
  const { run } = recordedPrograms([])
  for (const [name, link] of [
    ['-h', null],
    ['switch1', '../eth1'],
    ['a b', 'eth1'],
  ] as const)
    // prettier-ignore
    await expect(configureOpenvSwitch(run, name, link)).rejects.toThrow('Invalid name of a network interface')
})
