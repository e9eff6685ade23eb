// Checks each node: its answer, its version and clock, its connections, its hypervisors and its storage.
import { masterNode } from '../../../config/lookup'
import type { Node } from '../../../model/config'
import { insteadOfGroup, MIN_VG_SIZE_MIB } from '../../../model/constants/disks'
import { PROTOCOL_VERSION, PROTOCOL_VERSIONS_SUPPORTED, RELEASE_VERSION } from '../../../model/constants/versions'
import { MAX_CLOCK_SKEW_S } from '../../../model/constants/words'
import { niceSort } from '../../../model/nice-sort'
import { isTexts } from './ask-nodes'
import type { GroupState, NodeImage } from './group-state'
import type { VerifyReport } from './report'
import { bridges, volumeGroupOf } from './request'
import { DISK_TEMPLATES, factsOf } from '../../../model/templates'

/** Returns whether the node's other answers can be used. */
export function verifyNodeAnswers(report: VerifyReport, { node, result }: NodeImage): boolean {
  if (result.ok) return true
  report.error('ENODERPC', node.name, `while contacting node: ${result.error}`)
  return false
}

export function verifyNode(report: VerifyReport, state: GroupState, image: NodeImage): void {
  verifyVersion(report, state, image)
  verifyRelease(report, state, image)
  verifyHypervisors(report, image)
  const setup = image.answer['nodesetup']
  const problems = isTexts(setup) ? setup : ['it did not report its set-up']
  report.when(problems.length > 0, 'ENODESETUP', image.node.name, `node setup error: ${problems.join('; ')}`)
  verifyTime(report, state, image)
  verifyNetwork(report, state, image)
  verifyPrograms(report, image)
  verifyOwners(report, image)
  verifyStoragePaths(report, state, image)
  if (!image.node.vm_capable) return
  verifyVolumeGroup(report, state, image)
  verifyBridges(report, state, image)
}

function verifyVersion(report: VerifyReport, { config }: GroupState, { node, answer }: NodeImage): void {
  const version = answer['version']
  const [protocol, release]: unknown[] = Array.isArray(version) ? version : []
  if (report.when(protocol === undefined, 'ENODERPC', node.name, 'connection to node returned invalid data')) return
  const wrong = `incompatible protocol versions: master ${PROTOCOL_VERSION}, node ${String(protocol)}`
  if (typeof protocol !== 'number' || !PROTOCOL_VERSIONS_SUPPORTED.includes(protocol))
    return report.error('ENODEVERSION', node.name, wrong)
  const other = `software version mismatch: master ${RELEASE_VERSION}, node ${String(release)}`
  report.when(release !== RELEASE_VERSION, 'ENODEVERSION', node.name, other, 'WARNING')
  const unfit =
    `a master candidate with Ganeti ${String(release)} cannot read this configuration, whose version is ${config.version}, ` +
    `and so cannot become the master: upgrade it, or run 'gnt-node modify -C no ${node.name}'`
  report.when(node.master_candidate && protocol < config.version, 'ENODEVERSION', node.name, unfit, 'WARNING')
}

/**
 * Versions of Gantry work together, so that nodes can be upgraded one by one. Nodes with Ganeti do not report a
 * version.
 */
function verifyRelease(
  report: VerifyReport,
  { config, images, others }: GroupState,
  { node, answer }: NodeImage,
): void {
  const master = [...images, ...others].find((image) => image.node.uuid === config.cluster.master_node)
  const [desired, release] = [master?.answer['gantry-release'], answer['gantry-release']]
  if (typeof desired !== 'string' || typeof release !== 'string') return
  const text =
    `it runs Gantry ${release}, and the master ${desired}: with the package of one of both on all nodes, run ` +
    `'gnt-cluster upgrade --to=${desired}' (or --to=${release}) on the master`
  report.when(release !== desired, 'ENODEVERSION', node.name, text, 'WARNING')
}

function verifyHypervisors(report: VerifyReport, { node, answer, running }: NodeImage): void {
  if (!node.vm_capable) return
  for (const [name, problem] of entries(answer['hypervisor']))
    report.when(problem !== null, 'ENODEHV', node.name, `hypervisor ${name} verify failure: '${String(problem)}'`)
  const wrong = answer['hvparms']
  if (Array.isArray(wrong))
    for (const [source, name, problem] of wrong.filter(isTexts))
      report.error('ENODEHV', node.name, `hypervisor ${name} parameter verify failure (source ${source}): ${problem}`)
  const said = JSON.stringify(answer['instancelist'] ?? null)
  report.when(running === undefined, 'ENODEHV', node.name, `rpc call to node failed (instancelist): ${said}`)
}

function verifyTime(report: VerifyReport, { asked_ms: [from, to] }: GroupState, { node, answer }: NodeImage): void {
  const time = answer['time']
  const [seconds, micros]: unknown[] = Array.isArray(time) ? time : []
  if (typeof seconds !== 'number' || typeof micros !== 'number')
    return report.error('ENODETIME', node.name, 'Node returned invalid time')
  const now_s = seconds + micros / 1e6
  const off_s = Math.max(from / 1000 - now_s, now_s - to / 1000)
  const text = `Node time diverges by at least ${off_s.toFixed(1)}s from master node time; set its clock`
  report.when(off_s > MAX_CLOCK_SKEW_S, 'ENODETIME', node.name, text)
}

function verifyNetwork(report: VerifyReport, { config }: GroupState, { node, answer }: NodeImage): void {
  for (const [other, problem] of entries(answer['nodelist']))
    report.error('ENODESSH', node.name, `ssh communication with node '${other}': ${String(problem)}`)
  for (const check of ['ssh-setup', 'ssh-clutter'])
    for (const problem of texts(answer[check])) report.error('ENODESSH', node.name, problem)
  const reached = answer['node-net-test']
  report.when(reached === undefined, 'ENODENET', node.name, "node hasn't returned node tcp connectivity data")
  const failed = Object.fromEntries(entries(reached))
  for (const other of niceSort(Object.keys(failed)))
    report.error('ENODENET', node.name, `tcp communication with node '${other}': ${String(failed[other])}`)
  if (typeof reached === 'string') report.error('ENODENET', node.name, `tcp communication: ${reached}`)
  const text =
    node.uuid === config.cluster.master_node
      ? 'the master node cannot reach the master IP (not configured?)'
      : 'cannot reach the master IP'
  report.when(answer['master-ip'] !== true, 'ENODENET', node.name, text)
}

function verifyPrograms(report: VerifyReport, { node, answer }: NodeImage): void {
  const scripts = answer['user-scripts']
  const broken = isTexts(scripts) ? [...scripts].sort() : []
  report.when(!isTexts(scripts), 'ENODEUSERSCRIPTS', node.name, 'did not return user scripts information')
  const text = `user scripts not present or not executable: ${broken.join(', ')}`
  report.when(broken.length > 0, 'ENODEUSERSCRIPTS', node.name, text)
  const oob = answer['oob-paths']
  if (!Array.isArray(oob) || !(node.master_candidate || node.master_capable)) return
  for (const problem of oob) report.when(problem !== null, 'ENODEOOBPATH', node.name, String(problem))
}

/** Nodes with Ganeti do not check this. */
function verifyOwners(report: VerifyReport, { node, answer }: NodeImage): void {
  for (const problem of texts(answer['gantry-owners'])) report.error('ENODEFILECHECK', node.name, problem)
  for (const file of texts(answer['gantry-set-aside']))
    report.error('ENODEFILECHECK', node.name, setAside(file), 'WARNING')
}

function verifyStoragePaths(report: VerifyReport, { config }: GroupState, { node, answer }: NodeImage): void {
  const forbidden = answer['allowed-file-storage-paths']
  if (node.uuid === masterNode(config)?.uuid && isTexts(forbidden))
    report.when(
      forbidden.length > 0,
      'ENODEFILESTORAGEPATHS',
      node.name,
      `Found forbidden file storage paths: ${forbidden.join(', ')}`,
    )
  for (const template of DISK_TEMPLATES) {
    const [question, code] = factsOf(template).check ?? []
    if (question === undefined || code === undefined) continue
    const text = `The configured ${template} storage path is unusable: ${String(answer[question])}`
    report.when(answer[question] !== undefined, code, node.name, text)
  }
}

function verifyVolumeGroup(report: VerifyReport, { config }: GroupState, { node, answer }: NodeImage): void {
  const desired = volumeGroupOf(config.cluster)
  if (desired === undefined) return
  const reported = answer['vglist']
  const isTold = typeof reported === 'object' && reported !== null
  if (report.when(!isTold, 'ENODELVM', node.name, 'unable to check volume groups')) return
  const groups = Object.fromEntries(entries(reported))
  const size = groups[desired]
  // A group is gone with its only disk.
  const missing = `volume group '${desired}' missing: bring its disk back, or make it again; ${insteadOfGroup(Object.keys(groups))}`
  if (report.when(typeof size !== 'number', 'ENODELVM', node.name, missing)) return
  const small = `volume group '${desired}' too small (${MIN_VG_SIZE_MIB} MiB required, ${String(size)} MiB found)`
  report.when(Number(size) < MIN_VG_SIZE_MIB, 'ENODELVM', node.name, small)
  const volumes = answer['lvlist']
  if (typeof volumes === 'string') report.error('ENODELVM', node.name, `LVM problem on node: ${volumes}`)
  const shared = answer['exclusive-pvs']
  if (Array.isArray(shared))
    for (const item of shared) {
      const [pv, lvs]: unknown[] = Array.isArray(item) ? item : []
      const owners = isTexts(lvs) ? lvs.join(', ') : ''
      report.error('ENODELVM', node.name, `PV ${String(pv)} is shared among unrelated LVs (${owners})`)
    }
}

function verifyBridges(report: VerifyReport, state: GroupState, { node, answer }: NodeImage): void {
  if (bridges(state).length === 0) return
  const missing = answer['bridges']
  if (report.when(!isTexts(missing), 'ENODENET', node.name, 'did not return valid bridge information')) return
  const names = isTexts(missing) ? [...missing].sort() : []
  report.when(names.length > 0, 'ENODENET', node.name, `missing bridges: ${names.join(', ')}`)
}

export const nodeType = (node: Node, masterUuid: string): string => {
  if (node.uuid === masterUuid) return 'master'
  if (node.master_candidate) return 'master candidate'
  return node.drained ? 'drained' : 'regular'
}

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []

/** The entries of an object. A check that failed on the node returns a text instead, which has none. */
export const entries = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

const setAside = (file: string): string =>
  `${file} did not fit, and was set aside: keep it until you have seen that nothing in it is missing; then 'rm ${file}' removes it`
