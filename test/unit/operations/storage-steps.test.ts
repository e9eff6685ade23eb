// Jobs on a cluster with logical volumes and DRBD, as a real master's were recorded, in good and in broken states: the same results, the
// same words in the log, the same calls to nodes, and the same configuration afterwards.
import { loadConfig } from '../../../src/config/upgrade'
import { seededRandom } from '../../../src/lib/random'
import { createCertificate } from '../../../src/lib/tls'
import type { ConfigData } from '../../../src/model/config'
import { chapters, clusterOf, ending, type Step } from '../../support/storage-steps'
import { byNode, callText, isOrder, isToldByAll, madeText, ordered, shape } from '../../support/storage-texts'

let pem: string
beforeAll(async () => {
  pem = await createCertificate()
})

/** The recordings leave them out, or how often they are asked is a matter of patience. */
const LEFT_OUT = new Set(['hooks_runner', 'upload_file', 'write_ssconf_files', 'impexp_status'])

/** Questions that ours asks a node once more than Ganeti. */
const ONCE_MORE = new Set([
  // How far a migration is, as our nodes tell it.
  'gantry_migration_status',
  // Whether the node answers at all, before it gets a question that may take long.
  'version',
  // Verify finds files of disks that belong to no instance.
  'gantry_file_storage_list',
  // Verify finds mirrors that do not look for their other node.
  'drbd_needs_activation',
  // Programs that a template needs must be there.
  'node_verify',
  // There must be room for what is made anew.
  'node_info',
  // Recorded sizes may be too small, and the rest would not be copied.
  'blockdev_getdimensions',
  // A guest may run with disks that do not count as active.
  'instance_info',
  // An instance that is removed, or gets new disks, must not run anywhere.
  'instance_list',
])

interface Difference {
  /** What ours ends with, by job. */
  readonly results?: Readonly<Record<number, unknown>>
  /** The logs of all jobs, line by line or whole. */
  readonly line?: (line: string) => readonly string[]
  readonly log?: (log: readonly string[]) => readonly string[]
  readonly calls?: (calls: readonly string[]) => readonly string[]
  /** Questions that it asks more often. */
  readonly questions?: readonly string[]
  /** Devices that are made besides. */
  readonly made?: readonly string[]
  readonly config?: (config: ConfigData) => ConfigData
  /** It goes as this step does. */
  readonly as?: string
}

const NODE2 = '8ee24765-d6a6-4b0b-992e-493e82a52273'

// Nothing happens between both waits, as no operating system is installed. New disks of a stopped instance do not stay active.
const NOT_INSTALLED: Difference = { log: once, calls: (calls) => [...calls, 'node1 blockdev_shutdown U.disk0'] }
const NOT_INSTALLED_MIRROR: Difference = {
  log: once,
  calls: (calls) => [...calls, 'node1 blockdev_shutdown drbd', 'node2 blockdev_shutdown drbd'],
}

/** What ours does otherwise, and why. */
const OTHERWISE: Readonly<Record<string, Difference>> = {
  // Ganeti says this when it has just changed it. Its policy goes on forbidding what was enabled.
  '004-enable-lvm-drbd': {
    line: () => [
      ' - INFO: The instance policy allows plain, drbd from now on, too; --ipolicy-disk-templates says otherwise',
    ],
    config: (config) => {
      const { ipolicy } = config.cluster
      const templates = [...(ipolicy['disk-templates'] ?? []), 'plain', 'drbd'] as const
      return { ...config, cluster: { ...config.cluster, ipolicy: { ...ipolicy, 'disk-templates': templates } } }
    },
  },
  // A volume that is active is well, even if nobody has it open.
  '073-verify-disks': { results: { 1: [{}, [], {}] } },
  // The daemon is named, and has more time to start. All imports are waited for at the same time.
  '115-plain-move': {
    log: (log) => swapped(log, 'disk/0 failed'),
    line: (line) => [line.replace(/10 seconds/, '60 seconds').replace(/import on/, "import 'import-daemon' on")],
  },
  // Nobody knows whether an instance runs on a node that does not answer, and how much memory it has. Nodes have names.
  '163-verify-dead-node': {
    line: (line) => {
      if (/EINSTANCEDOWN|ENODEN1|^ - WARNING: Communication failure/.test(line)) return []
      const renamed = line.replace(NODE2, 'node2.gnt.example')
      if (!line.includes('while getting disk information')) return [renamed]
      const [, error] = line.split('disk information: ')
      return [line, `  - WARNING:ENODERPC:node:node2.gnt.example:its files of disks could not be listed: ${error}`]
    },
  },
  // Says why, before anything else.
  '164b-failover-to-offline-node-refused': {
    results: { 0: ['OpPrereqError', ["Can't use offline node: node2.gnt.example", 'wrong_state']] },
  },
  // Nothing is lost because a node is offline.
  '166-verify-disks-offline-node': { results: { 1: [{}, [], {}] } },
  '158-verify-disks-lost': {
    results: {
      1: [
        ...[{}, ['inst2.gnt.example']],
        {
          'inst2.gnt.example': [
            '55e04c36-651d-49a5-9f42-a46dd12e9286.disk0',
            '8b43f5de-0e5d-4765-98fe-9052c01aed7f.disk1',
          ].flatMap((lv) => ['data', 'meta'].map((part) => ['node2.gnt.example', `xenvg/${lv}_${part}`])),
        },
      ],
    },
  },
  // Says what to do.
  '136-verify-diskless-primary': {
    line: (line) => [
      line.replace(
        /local disk state is 'faulty'/,
        "$&; 'gnt-instance replace-disks -a inst2.gnt.example' makes new volumes for it, which its other node fills",
      ),
    ],
  },
  '155-verify-lost-and-orphans': {
    line: (line) => [
      line.replace(
        /orphan.disk0 is unknown/,
        "$&; if nobody needs it, remove it there with 'lvremove xenvg/orphan.disk0'",
      ),
    ],
  },
  // A guest that runs is judged by its disks, also if they are marked as not active.
  '168-verify-after-return': {
    line: (line) => {
      if (line.includes('drbd minor 0 of disk aa661529'))
        return [
          line,
          "  - ERROR:ENODEDRBD:node:node2.gnt.example:drbd minor 1 of disk 6f0d1dee-33e2-4716-92ed-9b91033fc621 (attached in instance 'inst3.gnt.example') is not active",
        ]
      if (!line.includes('inst2.gnt.example:disk/1 on node1.gnt.example is degraded')) return [line]
      const ids = 'hosts=8ee24765-d6a6-4b0b-992e-493e82a52273/1-09418240-f5ea-4ee5-a8cc-1d1888f97254/2, port=11001'
      const side = (part: string, size_mib: number) =>
        `<LogicalVolume(/dev/xenvg/ebddaab9-d0ca-49c7-965d-b422c21fe6cf.disk0_${part}, visible as /dev/, size=${size_mib}m)>`
      const disk = `<DRBD8(${ids}, backend=${side('data', 1024)}, metadev=${side('meta', 128)}, visible as /dev/disk/0, size=1024m)>`
      const fault =
        "EINSTANCEFAULTYDISK:instance:inst3.gnt.example:couldn't retrieve status for disk/0 on node2.gnt.example"
      return [
        line,
        line.replace('inst2', 'inst3').replace('disk/1', 'disk/0') +
          "; it is stand-alone: 'gnt-instance activate-disks inst3.gnt.example' connects it with its other node. If it is stand-alone again after " +
          "that, both were written to (a split brain): 'gnt-instance replace-disks -n NODE inst3.gnt.example' keeps the data of the primary node",
        `  - ERROR:${fault}: Can't find device ${disk}`,
      ]
    },
  },
  // A start that failed leaves the instance marked as up. So ours looks whether it runs, and fails as the next step does.
  '159b-recreate-plain': {
    as: '159c-recreate-plain-other-disk-exists',
    log: () => [
      ' - INFO: Instance inst1.gnt.example is marked to be up, but does not run: it is marked down, as its disks will be empty',
    ],
  },
  // Both sides of a mirror are made at the same time, so both fail.
  '159f-recreate-drbd': {
    calls: (calls) => [...calls, 'node2 blockdev_create U.disk0_data false'],
    made: ['node2 U.disk0_data 32 inst12.gnt.example false originstname+inst12.gnt.example false {"stripes":1}'],
  },
  '206-drbd-add-stopped': NOT_INSTALLED_MIRROR,
  '169c-plain-add': NOT_INSTALLED,
  // The recording begins only after these.
  '207-drbd-rename': {
    calls: (calls) => ['node1 blockdev_assemble drbd false', 'node2 blockdev_assemble drbd false', ...calls],
  },
  // The error says so. The volume may be there although the node has not said so.
  '303-plain-add-not-allocatable': {
    calls: (calls) => [...calls, 'node1 blockdev_remove U.disk0'],
    line: (line) => (line === ' - WARNING: Device creation failed' ? [] : [line]),
  },
  '311-drbd-add-params': NOT_INSTALLED_MIRROR,
  '335-plain-add-stripes': NOT_INSTALLED,
  '337-drbd-add-stripes': NOT_INSTALLED_MIRROR,
  '339-plain-add-one-pv': NOT_INSTALLED,
  '341-plain-add-more-stripes': NOT_INSTALLED,
  // Says what to do. It asks the node about the instance first.
  '342-plain-add-too-big': {
    questions: ['node1 hypervisor_validate_params: 1 instead of 0', 'node1 os_validate: 1 instead of 0'],
    results: {
      0: [
        'OpPrereqError',
        [
          'Not enough disk space on target node node1.gnt.example vg xenvg: required 102400 MiB, available 48824 MiB; ' +
            'remove what is not needed there, extend the group with vgextend, or choose another node',
          'insufficient_resources',
        ],
      ],
    },
  },
  // The node that takes over notes why.
  '316-migrate-protocol-b': { questions: ['node2 gantry_reason: 1 instead of 0'] },
  // There must be room in both groups.
  '318-replace-primary-params': { questions: ['node2 node_info: 2 instead of 0'] },
  // Names the node.
  '306-adopt-missing': {
    results: {
      0: [
        'OpPrereqError',
        ['Missing logical volume(s): xenvg/nowhere; node node1.gnt.example does not have them', 'wrong_input'],
      ],
    },
  },
  // Nothing happens between both waits. Volumes name their owner from then on, so that verify can tell whose an unknown one is.
  '308-adopt': {
    log: once,
    calls: (calls) =>
      calls.flatMap((call) =>
        call === 'node1 instance_start'
          ? [...[0, 1].map((disk) => `node1 blockdev_setinfo U.disk${disk} originstname+inst1.gnt.example`), call]
          : [call],
      ),
  },
  // Snapshots are removed in the end, however the export ends.
  '171b-export-running-snapshot': {
    log: (log) => swapped(log, 'Removing snapshot'),
    calls: (calls) => swapped(calls, 'node1 blockdev_remove'),
  },
}

/** A disk that was detached from its instance still belongs to the cluster. */
const DETACHED = /ENODEORPHANLV:.*\/3eec717a-\S+ is unknown$/

function once(log: readonly string[]): string[] {
  return [...new Set(log)]
}

/** What begins so comes after what follows it. */
function swapped(lines: readonly string[], start: string): string[] {
  const at = lines.findIndex((line) => line.startsWith(start))
  return [...lines.slice(0, at), ...lines.slice(at + 1, at + 2), ...lines.slice(at, at + 1), ...lines.slice(at + 2)]
}

const all = chapters()

test.each(all.map((chapter) => [chapter.step.name, chapter] as const))('%s', async (name, chapter) => {
  const ours = OTHERWISE[name] ?? {}
  const like = all.find(({ step }) => step.name === ours.as)?.step ?? chapter.step
  const cluster = clusterOf({ ...chapter, step: { ...chapter.step, calls: like.calls } })
  for (const one of ['server', 'rapi']) cluster.files.set(`/var/lib/ganeti/${one}.pem`, pem)
  const ends: unknown[] = []
  const logs: string[][] = []
  for (const job of chapter.step.jobs) {
    cluster.log.length = 0
    ends.push(plain(await ending(cluster, job)))
    logs.push(reported(cluster.log))
  }
  expect(ends).toEqual(like.jobs.map(({ result }, index) => ours.results?.[index] ?? plain(result)))
  expect(logs).toEqual(like.jobs.map(({ log }) => reported(expectedLog(log, ours))))
  const texts = orders(like)
  const requested = cluster.asked.flatMap(callText)
  expect(ordered(byNode(requested))).toEqual(ordered(byNode(ours.calls?.(texts) ?? texts)))
  expect(cluster.calls('blockdev_create').map(madeText).sort()).toEqual(
    [...(like.made ?? []), ...(ours.made ?? [])].sort(),
  )
  expect(
    questions(
      cluster.asked.map(({ node, call }) => `${node.split('.')[0]} ${call}`),
      like,
    ),
  ).toEqual(ours.questions ?? [])
  expect(cluster.inconsistencies()).toEqual([])
  const { config } = loadConfig(chapter.after, seededRandom(2))
  expect(whole(cluster.config)).toEqual(whole(ours.config?.(config) ?? config))
})

function expectedLog(log: readonly string[], { line = (text) => [text], log: edited = (lines) => lines }: Difference) {
  return edited(log.filter((text) => !DETACHED.test(text)).flatMap(line))
}

/** Times differ, and so do numbers of jobs. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, part: unknown) =>
      key === 'jobs' && Array.isArray(part) ? part.map(() => 'a job') : part,
    )
      .replace(/ after \d+ ms/g, ' in vain')
      .replace(/(\/dev\/\w+\/)[0-9a-f-]{36}\.disk/g, '$1U.disk'),
  )

/** How long a node was waited for, which daemon imports, and in which order verify names what it has found, does not matter. */
function reported(log: readonly string[]): string[] {
  const groups: string[][] = []
  for (const line of log.filter(isToldByAll).map((text) =>
    withoutAdvice(text)
      .replace(/ after \d+ ms/, ' in vain')
      .replace(/'import-[^']+'/, "'import-daemon'"),
  )) {
    const last = groups.at(-1)
    if (last?.[0]?.startsWith('  - ') && line.startsWith('  - ')) last.push(line)
    else groups.push([line])
  }
  return groups.flatMap((group) => group.toSorted())
}

/** Ganeti's verify does not tell the way to get a missing volume back. */
const withoutAdvice = (text: string): string => text.replace(/(EINSTANCEMISSINGDISK:[^;]*); .*/, '$1')

const callOf = (text: string): string => text.split(' ')[1] ?? ''
const orders = (step: Step): string[] => step.calls.map(([text]) => text).filter((text) => isOrder(callOf(text)))

/** Questions that ours asks more often than Ganeti. */
function questions(requested: readonly string[], step: Step): string[] {
  const theirs = step.calls.map(([text]) => text.split(' ').slice(0, 2).join(' '))
  const count = (list: readonly string[], desired: string) => list.filter((one) => one === desired).length
  const more = [...new Set(requested)].filter((one) => {
    const call = callOf(one)
    // What a dead node was asked is not recorded.
    if (isOrder(call) || LEFT_OUT.has(call) || step.dead?.[one.split(' ')[0] ?? ''] !== undefined) return false
    return count(requested, one) > count(theirs, one) + (ONCE_MORE.has(call) ? 1 : 0)
  })
  return more.map((one) => `${one}: ${count(requested, one)} instead of ${count(theirs, one)}`)
}

function whole(config: ConfigData): unknown {
  const { serial_no: _serial, mtime: _mtime, ctime: _ctime, candidate_certs, ...cluster } = config.cluster
  const groups = Object.values(config.nodegroups).map(({ name, diskparams }) => ({ name, diskparams }))
  const nodes = Object.values(config.nodes).map(({ serial_no: _s, mtime: _m, ctime: _c, uuid: _u, ...node }) => node)
  const byName = nodes.toSorted((a, b) => a.name.localeCompare(b.name))
  return {
    ...(shape(config) as object),
    nodes: byName,
    groups,
    cluster: { ...cluster, certs: Object.values(candidate_certs).sort() },
  }
}
