// gnt-instance: the commands about disks.
import {
  OpInstanceActivateDisks,
  OpInstanceDeactivateDisks,
  OpInstanceGrowDisk,
  OpInstanceRecreateDisks,
  OpInstanceReplaceDisks,
} from '../../opcodes/instance'
import type { Call } from '../command'
import { EXIT, refusal } from '../outcome'
import { parseUnit } from '../../model/param-types'
import { diskValues, enteredParams, wholeIndex } from '../input/params'
import { firstArgument, opcodeOf, submitting } from '../submit/submit'

export const deactivateDisks = submitting(OpInstanceDeactivateDisks, (call) => ({
  instance_name: firstArgument(call),
  force: call.options.flag('force'),
}))

/** Prints `node:disk:device` of every disk. */
export async function activateDisks(call: Call): Promise<number> {
  const { options, terminal } = call
  const rows = await call.jobs.run(
    opcodeOf(OpInstanceActivateDisks, {
      ...options.parametersOf(OpInstanceActivateDisks),
      instance_name: firstArgument(call),
    }),
  )
  for (const row of Array.isArray(rows) ? (rows as unknown[]) : [])
    if (Array.isArray(row)) terminal.out(row.map(String).join(':'))
  return EXIT.ok
}

export const growDisk = submitting(OpInstanceGrowDisk, ({ args, options }) => {
  const [instance_name, disk = '', size] = args
  return {
    ...options.parametersOf(OpInstanceGrowDisk),
    instance_name,
    disk: wholeIndex(disk, 'Invalid disk index'),
    amount: growth(size),
  }
})

function growth(text: string | undefined): number {
  try {
    return parseUnit(text)
  } catch {
    throw refusal(`Can't parse the given amount '${text}'`)
  }
}

export const recreateDisks = submitting(OpInstanceRecreateDisks, (call) => {
  const { options } = call
  const disks = options.idents('disks').map(([ident, values]) => {
    return [
      wholeIndex(ident, 'Invalid disk index passed'),
      diskValues(enteredParams(values, `disk/${ident}`), `disk ${ident}`),
    ]
  })
  const node = options.text('node')
  if (node !== undefined && options.text('iallocator') !== undefined)
    throw refusal('At most one of either --nodes or --iallocator can be passed')
  return {
    ...options.parametersOf(OpInstanceRecreateDisks),
    instance_name: firstArgument(call),
    disks,
    nodes: node?.split(':') ?? [],
  }
})

export const replaceDisks = submitting(OpInstanceReplaceDisks, (call) => {
  const { options } = call
  const disks = options.text('disks')?.split(',') ?? []
  return {
    ...options.parametersOf(OpInstanceReplaceDisks),
    instance_name: firstArgument(call),
    disks: disks.map((text) => wholeIndex(text, 'Invalid disk index passed')),
    mode: replaceMode(call),
  }
})

function replaceMode({ options }: Call): string {
  const input = [
    options.flag('auto') ? 'replace_auto' : [],
    options.flag('on_primary') ? 'replace_on_primary' : [],
    options.flag('on_secondary') ? 'replace_on_secondary' : [],
    options.text('remote_node') === undefined ? [] : 'replace_new_secondary',
    options.text('iallocator') === undefined ? [] : 'replace_new_secondary',
  ].flat()
  const [mode] = input
  if (mode !== undefined && input.length === 1) return mode
  throw refusal('One and only one of the -p, -s, -a, -n and -I options must be passed')
}
