// An option that is a parameter of an opcode takes everything from its declaration.
import { OptionValues } from '../../../../src/cli/input/option-values'
import { type Option, parameter } from '../../../../src/cli/input/option'
import { TOOLS } from '../../../../src/cli/program'
import { allOpcodes } from '../../../../src/opcodes/index'
import { OpClusterSetParams } from '../../../../src/opcodes/cluster'
import { OpInstanceCreate, OpInstanceReboot, OpInstanceSetParams } from '../../../../src/opcodes/instance'
import { OpNetworkAdd } from '../../../../src/opcodes/network'

test('an option is called, takes and is what its parameter says', () => {
  expect(parameter(OpInstanceCreate, 'ignore_ipolicy')).toEqual({
    ...{ long: ['--ignore-ipolicy'], dest: 'ignore_ipolicy', type: 'flag', isParameter: true },
    ...{ help: 'skip instance policy checks', default: false },
  })
  expect(parameter(OpInstanceCreate, 'compress')).toMatchObject({ type: 'string', default: 'none' })
  expect(parameter(OpInstanceReboot, 'shutdown_timeout')).toMatchObject({ type: 'int', default: 120 })
  expect(parameter(OpInstanceReboot, 'reboot_type').choices).toEqual(['full', 'hard', 'soft'])
  expect(parameter(OpClusterSetParams, 'modify_etc_hosts')).toMatchObject({ type: 'bool', metavar: 'yes|no' })
  expect(parameter(OpNetworkAdd, 'add_reserved_ips')).toMatchObject({
    ...{ type: 'commalist', help: 'addresses to reserve, comma list' },
  })
})

test('a flag that is set by default has an option to switch it off', () => {
  expect(parameter(OpInstanceCreate, 'wait_for_sync')).toMatchObject({
    ...{ long: ['--no-wait-for-sync'], stores: false, default: true, help: 'do not wait for disk sync' },
  })
})

test('options that are parameters of an opcode are handed on, and others are not', () => {
  const options = [
    parameter(OpInstanceSetParams, 'hotplug'),
    parameter(OpInstanceSetParams, 'os_name'),
    parameter(OpInstanceReboot, 'reboot_type'),
    { ...parameter(OpInstanceSetParams, 'force'), isParameter: false },
  ]
  const values = new OptionValues(
    new Map<string, unknown>([
      ['hotplug', false],
      ['reboot_type', 'soft'],
      ['force', true],
    ]),
    options,
  )
  expect(values.parametersOf(OpInstanceSetParams)).toEqual({ hotplug: false, os_name: undefined })
})

/** Commands turn these texts into values, or read them alone. */
const OTHERWISE = ['keyval', 'identkeyval']
const OWN = ['verbose']

test('no option is written by hand that a parameter describes in the same words', async () => {
  const says = ({ dest, help, type }: Option) =>
    [...allOpcodes.values()].some(
      (opcode) =>
        Object.hasOwn(opcode.params, dest) &&
        parameter(opcode, dest, { type }).help.toLowerCase() === help.toLowerCase(),
    )
  const found: string[] = []
  for (const [object, tool] of Object.entries(TOOLS))
    for (const { name, options } of (await tool.load()).commands)
      for (const option of options)
        if (
          option.isParameter !== true &&
          !OTHERWISE.includes(option.type) &&
          !OWN.includes(option.dest) &&
          says(option)
        )
          found.push(`gnt-${object} ${name}: ${option.long[0]} is parameter(..., '${option.dest}')`)
  expect(found).toEqual([])
})
