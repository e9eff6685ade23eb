// Creates many instances from a file: a JSON list with the parameters of OP_INSTANCE_CREATE for each.
import type { Files } from '../../lib/files'
import { type JsonObject, Mismatch } from '../../lib/shapes/shape'
import { OpInstanceCreate, OpInstanceMultiAlloc } from '../../opcodes/instance'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import { readJson } from '../input/input-file'
import { firstArgument, opcodeOf } from '../submit/submit'

export async function createInstances(call: Call): Promise<number> {
  const { options, jobs, terminal } = call
  const instances = await readInstances(call.files, firstArgument(call))
  const result = await jobs.run(opcodeOf(OpInstanceMultiAlloc, { iallocator: options.text('iallocator'), instances }))
  const { jobs: submitted = [], failed = [] } = OpInstanceMultiAlloc.result.parse(result)
  for (const name of failed) terminal.err(`There are no nodes for instance ${name}`)
  const outcomes = await jobs.followSubmitted(submitted)
  const errors = outcomes.filter(({ ok }) => !ok).length + failed.length
  if (errors === 0) terminal.out('All instances created successfully.')
  else terminal.out(`There were ${errors} errors during the creation.`)
  return errors === 0 ? EXIT.ok : EXIT.failure
}

async function readInstances(files: Files, file: string): Promise<readonly JsonObject[]> {
  const complaint = "Can't parse the instance definition file"
  const instances = listOfObjects(await readJson(files, file, complaint))
  if (instances.length === 0)
    throw new CommandFailure(`${complaint}: ${file} is not a list of instances, each with its parameters`)
  for (const [index, instance] of instances.entries()) {
    const unknown = Object.keys(instance).filter((name) => !Object.hasOwn(OpInstanceCreate.params, name))
    if (unknown.length > 0) throw refusal(`Unknown fields in definition ${index}: ${unknown.join(', ')}`)
  }
  return instances
}

/** Empty if the value is something else. */
function listOfObjects(value: unknown): readonly JsonObject[] {
  try {
    return OpInstanceMultiAlloc.params.instances.check.parse(value)
  } catch (error) {
    if (error instanceof Mismatch) return []
    throw error
  }
}
