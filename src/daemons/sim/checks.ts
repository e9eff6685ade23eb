// A simulated node's answers to cluster verify: those of a healthy node with its instances and disks.
import { createHash } from 'node:crypto'
import { timestamp } from '../../lib/clock'
import { PATH } from '../../model/constants/paths'
import { PROTOCOL_VERSION, RELEASE_VERSION } from '../../model/constants/versions'
import type { OsDiagnosis } from '../../rpc/node/dicts'
import { hypervisorInfo, logicalVolumes, storageInfo, volumeGroup } from './capacity'
import { type SimContext, type World, certificateOf } from './world'

type Check = (sim: SimContext, input: unknown) => unknown

export function answerChecks(sim: SimContext, checks: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = Object.entries(checks).filter(([name]) => Object.hasOwn(answers, name))
  const answered = known.map(([name, input]): [string, unknown] => [name, answers[name]?.(sim, input)])
  return Object.fromEntries(answered.filter(([, answer]) => answer !== undefined))
}

const none: Check = () => []

const answers: Readonly<Record<string, Check>> = {
  'allowed-file-storage-paths': ({ world: { config } }, input) =>
    config.nodes[config.cluster.master_node]?.name === input ? [] : undefined,
  bridges: none,
  'client-cert': (sim) => [null, certificateOf(sim)],
  'drbd-helper': ({ world: { config } }) => [true, config.cluster.drbd_usermode_helper ?? '/bin/true'],
  'drbd-list': ({ world, node }) => [...world.node(node).minors],
  'drbd-version': () => '8.4.11',
  'exclusive-pvs': none,
  filelist: fingerprints,
  hvinfo: (sim) => hypervisorInfo(sim),
  hvparms: none,
  hypervisor: (_sim, input) => Object.fromEntries(strings(input).map((name) => [name, null])),
  instancelist: ({ world, node }) => [...world.node(node).instances.keys()].sort(),
  lvlist: (sim) => Object.fromEntries(logicalVolumes(sim)),
  'master-ip': () => true,
  nodelist: () => ({}),
  'node-net-test': () => ({}),
  nodesetup: none,
  'oob-paths': (_sim, input) => strings(input).map(() => null),
  oslist: ({ world }) => osList(world),
  pvlist: none,
  'ssh-clutter': none,
  'ssh-setup': none,
  time: ({ clock }) => timestamp(clock),
  'user-scripts': none,
  version: () => [PROTOCOL_VERSION, RELEASE_VERSION],
  vglist: (sim) => ({ [volumeGroup(sim)]: storageInfo(sim, ['lvm-vg', volumeGroup(sim), []]).storage_size }),
}

/** All nodes have the same files; only candidates have those of candidates. */
function fingerprints({ world: { config }, node }: SimContext, input: unknown): Record<string, string> {
  const self = Object.values(config.nodes).find(({ name }) => name === node)
  const candidate = self === undefined || self.master_candidate || self.uuid === config.cluster.master_node
  const files = strings(input).filter((file) => candidate || !file.endsWith(PATH.CLUSTER_CONF_FILE))
  return Object.fromEntries(files.map((file) => [file, createHash('sha1').update(file).digest('hex')]))
}

/** The simulated nodes' operating systems with their variants; those of the recorded instances are added. */
const INSTALLED: Readonly<Record<string, readonly string[]>> = { debootstrap: ['default'], noop: [] }

export function osList(world: World): OsDiagnosis[] {
  const variants = new Map(Object.entries(INSTALLED).map(([name, known]) => [name, new Set(known)]))
  for (const { os } of Object.values(world.config.instances)) {
    const [name = '', variant] = os.split('+')
    if (name === '') continue
    const known = variants.get(name) ?? new Set()
    if (variant !== undefined) known.add(variant)
    variants.set(name, known)
  }
  return [...variants].sort().map(([name, known]) => {
    const api = known.size > 0 ? [20, 15, 10] : [10]
    return [name, `/usr/share/ganeti/os/${name}`, true, '', [...known].sort(), [], api, true]
  })
}

const strings = (input: unknown): string[] =>
  Array.isArray(input) ? input.filter((item) => typeof item === 'string') : []
