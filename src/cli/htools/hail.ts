// `hail`: answers one request of the allocator protocol.
import { ALLOC_DEFAULTS, type AllocOptions } from '../../allocation/model/options'
import { answer } from '../../allocation/questions/answer'
import { BadClusterData } from '../../allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../../allocation/model/cluster-model'
import { explainRequest } from '../../allocation/questions/explain-request'
import { candidateLines } from '../../allocation/model/explain-text'
import type { Request } from '../../allocation/model/requests'
import { type ParsedRequest, parseRequest } from '../../allocation/sources/request-json'
import { readFile } from './files'
import { loadModel, nodeMemoryOf, saveData, savedData, warn } from './load'
import { monitored } from './monitoring'
import { type Parsed, has, listOf, parseOptions, textOf, verbosity } from './options'
import { nodeTable } from './table'
import { type Context, failure } from './context'

const OPTIONS =
  'print-nodes save text-data simulate verbose ignore-dynu mond mond-xen ignore-soft-errors no-capacity-checks restrict-allocation-to static-kvm-node-memory explain version help help-completion'

export async function hail(args: readonly string[], surroundings: Context): Promise<number> {
  const options = parseOptions('hail', OPTIONS, args, 'file 1 1\n')
  const [file] = options.rest
  if (file === undefined) throw failure('This program needs an input file.')
  if (options.rest.length > 1) throw failure('Only one argument is accepted (the input file)')
  const { data, request } = readRequest(options, surroundings, file)
  const replaced = has(options, 'text-data') || has(options, 'simulate')
  const requested = buildModel(data)
  warn(requested, surroundings)
  const model = replaced ? await loadModel(options, surroundings) : await monitored(requested, options, surroundings)
  if (verbosity(options) > 1) surroundings.err(`Received request: ${JSON.stringify(request)}\n`)
  show(model, options, surroundings, 'Initial')
  saveData(options, surroundings, 'pre-ialloc', 'before iallocator run', savedData(model))
  const allocation = {
    ...ALLOC_DEFAULTS,
    ignoreSoftErrors: has(options, 'ignore-soft-errors'),
    capacity: !has(options, 'no-capacity-checks'),
    restrictTo: listOf(options, 'restrict-allocation-to'),
  }
  if (has(options, 'explain')) explain(model, request, allocation, surroundings)
  const reply = answer(model, request, allocation)
  surroundings.out(`${JSON.stringify(reply)}\n`)
  show(model, options, surroundings, 'Final')
  saveData(options, surroundings, 'post-ialloc', 'after iallocator run', savedData(model))
  return 0
}

function readRequest(options: Parsed, surroundings: Context, file: string): ParsedRequest {
  const text = readFile(surroundings, file, failure)
  try {
    return parseRequest(text, nodeMemoryOf(options))
  } catch (error) {
    throw error instanceof BadClusterData ? failure(error.message) : error
  }
}

/** Printed separately from the answer, which programs read. */
function explain(model: ClusterModel, request: Request, options: AllocOptions, surroundings: Context): void {
  try {
    for (const { instance, candidates } of explainRequest(model, request, options))
      surroundings.err(`Nodes for ${instance}:\n${candidateLines(candidates)}`)
  } catch (error) {
    // The answer itself reports invalid requests.
    if (!(error instanceof BadClusterData)) throw error
  }
}

function show(model: ClusterModel, options: Parsed, surroundings: Context, when: string): void {
  const fields = textOf(options, 'print-nodes')
  if (fields === undefined) return
  const nodes = model.nodes.map((_, at) => at)
  surroundings.err(`\n${when} cluster status:\n${nodeTable(model, nodes, fields)}\n`)
}
