// Files that must be equal on all nodes: each node sends fingerprints, which are compared here.
import { masterCandidates } from '../../../config/lookup'
import { ssconfLines } from '../../../config/ssconf'
import type { ConfigData, Node } from '../../../model/config'
import { PATH } from '../../../model/constants/paths'
import { niceSort } from '../../../model/nice-sort'
import type { QueueCopy } from '../../../rpc/luxi/resources'
import type { ReplicaStatus } from '../../../rpc/wconfd/calls'
import type { UnitContext } from '../../unit-context'
import { ancillaryFiles, listedFiles, type AncillaryFile } from '../ancillary-files'
import { askNodes } from './ask-nodes'
import type { GroupState, NodeImage } from './group-state'
import type { VerifyReport } from './report'

/** Without the configuration itself: its copies follow by a journal, and wconfd knows which ones are behind. */
export async function filesToCompare(
  ctx: UnitContext,
  config: ConfigData,
  complain: (text: string) => void,
): Promise<AncillaryFile[]> {
  const ssconf = Object.keys(ssconfLines(config)).map((key): AncillaryFile => ({
    path: `${PATH.DATA_DIR}/ssconf_${key}`,
    on: 'all',
    optional: false,
  }))
  return [...ancillaryFiles(config, await listedFiles(ctx, complain)), ...ssconf]
}

export async function verifyFiles(ctx: UnitContext, report: VerifyReport, state: GroupState): Promise<void> {
  const images = [...state.images, ...state.others]
  for (const { node, result, answer } of images) {
    const reported = isFingerprints(answer['filelist'])
    if (!(!result.ok && result.offline))
      report.when(!reported, 'ENODEFILECHECK', node.name, 'Node did not return file checksum data')
  }
  const problems = differences(state.compared, images)
  // Another job may have changed the configuration between two nodes' answers, so differences are checked again.
  const { lasting, config } =
    problems.length === 0 ? { lasting: [], config: state.config } : await lookAgain(ctx, images)
  for (const problem of lasting) report.error('ECLUSTERFILECHECK', null, problem)
  // The second check rewrote the ssconf files. If the configuration did not change meanwhile, the old files were wrong:
  // report them.
  const mended = config.serial_no === state.config.serial_no ? problems.filter((text) => !lasting.includes(text)) : []
  for (const problem of mended.filter((text) => text.includes('/ssconf_')))
    report.notice(`${problem}: mended, it was written to all nodes again`)
  verifyReplicas(report, state, await ctx.env.wconfd.gantryReplicas())
  verifyQueueCopies(report, state, (await ctx.env.queries?.queueCopies?.()) ?? [])
}

export const pathsOf = (files: readonly AncillaryFile[]): string[] => files.map(({ path }) => path)

async function lookAgain(ctx: UnitContext, images: readonly NodeImage[]) {
  await ctx.env.wconfd.flushConfig()
  const config = await ctx.config.read({ nodes: 'all', groups: 'all', networks: 'all', instances: 'all' })
  const files = await filesToCompare(ctx, config, () => undefined)
  const nodes = images.filter(({ answer }) => isFingerprints(answer['filelist'])).map(({ node }) => node)
  const now = await askNodes(ctx, config, nodes, { filelist: pathsOf(files) })
  return { lasting: differences(files, now), config }
}

/** Exported for its test. */
function differences(files: readonly AncillaryFile[], images: readonly NodeImage[]): string[] {
  const answers = images.flatMap(({ node, answer }) => {
    const prints = answer['filelist']
    return isFingerprints(prints) ? [{ node, prints }] : []
  })
  return files.flatMap(({ path, on, optional }) => {
    const expected = answers.filter(({ node }) => on === 'all' || node.vm_capable)
    const missing = names(expected.filter(({ prints }) => prints[path] === undefined))
    const variants = new Map<string, Node[]>()
    for (const { node, prints } of answers) {
      const print = prints[path]
      if (print !== undefined) variants.set(print, [...(variants.get(print) ?? []), node])
    }
    return [
      ...missingProblem(path, optional, missing, missing.length === expected.length),
      ...variantProblem(path, variants),
    ]
  })
}

function missingProblem(path: string, optional: boolean, missing: readonly string[], everywhere: boolean): string[] {
  if (missing.length === 0 || (optional && everywhere)) return []
  return [
    optional
      ? `File ${path} is optional, but it must exist on all or no nodes (not found on ${missing.join(', ')})`
      : `File ${path} is missing from node(s) ${missing.join(', ')}`,
  ]
}

function variantProblem(path: string, variants: ReadonlyMap<string, readonly Node[]>): string[] {
  if (variants.size < 2) return []
  const displayed = [...variants]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, nodes], index) => `variant ${index + 1} on ${names(nodes.map((node) => ({ node }))).join(', ')}`)
  return [`File ${path} found with ${variants.size} different checksums (${displayed.join('; ')})`]
}

const names = (rows: readonly { readonly node: Node }[]): string[] => niceSort(rows.map(({ node }) => node.name))

/** Checks only the candidates in this group: the jobs of other groups check theirs. */
function verifyReplicas(report: VerifyReport, { config, nodes }: GroupState, replicas: readonly ReplicaStatus[]): void {
  const here = new Set<string>(nodes.filter((node) => !node.offline).map((node) => node.uuid))
  for (const { node, name, state, reason, has_more } of replicas) {
    if (!here.has(node) || node === config.cluster.master_node) continue
    const text = `master candidate ${name} does not have the current configuration: ${reason ?? 'unknown reason'}`
    const todo =
      has_more === true
        ? `if that is right, 'gnt-cluster master-failover' on ${name} makes it the master; if the master is right, stop the master's daemons, ` +
          "and run 'gantryd fold --take-file' there"
        : "see that its node daemon runs, then use 'gnt-cluster redist-conf'"
    report.when(state === 'out of sync', 'ECLUSTERFILECHECK', null, `${text}; ${todo}`)
  }
  const known = new Set(replicas.map(({ node }) => node))
  for (const node of masterCandidates(config)) {
    const unknown = here.has(node.uuid) && node.uuid !== config.cluster.master_node && !known.has(node.uuid)
    report.when(unknown, 'ECLUSTERFILECHECK', null, `master candidate ${node.name} keeps no copy of the configuration`)
  }
}

/** Without a warning nobody learns that the next master would lack jobs. */
function verifyQueueCopies(report: VerifyReport, { nodes }: GroupState, copies: readonly QueueCopy[]): void {
  const here = new Set<string>(nodes.filter((node) => !node.offline).map((node) => node.uuid))
  for (const { node, name, in_sync, reason } of copies) {
    if (in_sync || !here.has(node)) continue
    const text =
      `master candidate ${name} does not have all jobs of the queue: ${reason ?? 'unknown reason'}; see that its node daemon runs ` +
      'and that its disk has room: it is tried again by itself. Until it has them, do not make it the master'
    report.error('ECLUSTERFILECHECK', null, text, 'WARNING')
  }
}

const isFingerprints = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
