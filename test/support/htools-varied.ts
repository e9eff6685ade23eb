// Clusters with everything that an allocation must consider: groups with their own policies, exclusive storage, spindles, failure domains,
// restricted migration, wanted locations, exclusion, nodes that are away, and instances that are down, forthcoming or pinned.
import { seededRandom } from '../../src/lib/random'

interface Row {
  readonly name: string
  readonly group: number
  readonly memory: number
  readonly disk: number
  readonly cpus: number
  readonly spindles: number
  readonly speed: string
  readonly offline: boolean
  readonly tags: readonly string[]
  usedMemory: number
  usedDisk: number
  usedSpindles: number
}

const NODE_MEMORY = 512

export function variedClusterOf(seed: number): string {
  const chance = seededRandom(seed)
  const pick = <T>(first: T, ...rest: readonly T[]): T => rest[chance.below(rest.length + 1) - 1] ?? first
  const often = (percent: number) => chance.below(100) < percent
  const exclusive = often(30)
  const groups = 1 + chance.below(3)
  const tags = [
    'htools:iextags:service',
    'htools:nlocation:power',
    'htools:migration:kernel',
    'htools:desiredlocation:site',
  ]
  const declared = [...tags.filter(() => often(60)), ...(often(50) ? ['htools:allowmigration:kernel:1::kernel:2'] : [])]

  const nodes = Array.from({ length: 3 * groups + chance.below(5) }, (_, at): Row => {
    const own = [`power:${chance.below(3)}`, `kernel:${1 + chance.below(2)}`, `site:${chance.below(2)}`]
    return {
      name: `node${at}`,
      group: at % groups,
      memory: pick(6144, 8192, 12288),
      disk: pick(262144, 524288),
      cpus: pick(2, 4),
      spindles: pick(6, 12),
      speed: pick('1.0', '1.0', '0.5', '2.0'),
      offline: often(8),
      tags: own.filter(() => often(70)),
      ...{ usedMemory: 0, usedDisk: 0, usedSpindles: 0 },
    }
  })

  const instances = Array.from({ length: nodes.length * (1 + chance.below(4)) }, (_, at) => {
    const template = pick('drbd', 'drbd', 'drbd', 'rbd', 'sharedfile', 'plain', 'diskless')
    const status = pick('running', 'running', 'running', 'ADMIN_down', 'ADMIN_offline', 'ERROR_up')
    const forthcoming = often(6)
    const [memory, disk, vcpus, spindles] = [512 << chance.below(4), 1024 << chance.below(5), 1 + chance.below(3), 1]
    const home = nodes[chance.below(nodes.length)]
    const mirrors = nodes.filter((one) => one !== home && one.group === home?.group)
    const mirror = template === 'drbd' ? mirrors[chance.below(mirrors.length)] : undefined
    const local = template === 'drbd' || template === 'plain'
    // Instances must not use more than a node has, because no program gives a right answer for figures below zero.
    if (home !== undefined && home.usedMemory + memory > home.memory - NODE_MEMORY) return ''
    if (exclusive && [home, mirror].some((one) => one !== undefined && one.usedSpindles >= one.spindles)) return ''
    if (home !== undefined && !forthcoming && (status === 'running' || status === 'ERROR_up')) home.usedMemory += memory
    for (const node of forthcoming ? [] : [home, mirror]) {
      if (node !== undefined && local) node.usedDisk += disk
      if (node !== undefined) node.usedSpindles += spindles
    }
    const own = [`service:${chance.below(4)}`, `site:${chance.below(2)}`].filter(() => often(40))
    const kind = template === 'drbd' && mirror === undefined ? 'rbd' : template
    return [
      ...[`inst${at}`, memory, disk, vcpus, status, often(10) ? 'N' : 'Y', home?.name, mirror?.name ?? '', kind],
      ...[own.join(','), 1 + chance.below(2), exclusive ? spindles : '-', forthcoming ? 'Y' : 'N'],
    ].join('|')
  })

  const lines = nodes.map((one) =>
    [
      ...[one.name, one.memory, NODE_MEMORY, Math.max(0, one.memory - NODE_MEMORY - one.usedMemory)],
      ...[one.disk, Math.max(0, one.disk - one.usedDisk), one.cpus, one.offline ? 'Y' : 'N', `uuid-${one.group}`],
      ...[one.spindles, one.tags.join(','), exclusive ? 'Y' : 'N'],
      ...[exclusive ? Math.max(0, one.spindles - one.usedSpindles) : 0, 1, one.speed],
    ].join('|'),
  )
  const all = 'diskless,file,sharedfile,plain,blockdev,drbd,rbd,ext,gluster'
  const policy = (owner: string) => {
    const pairs = '128,1,1024,1,1,1;32768,8,1048576,16,8,12'
    return `${owner}|128,1,1024,1,1,1|${pairs}|${all}|${pick('4.0', '2.0', '1.5')}|${pick('32.0', '3.0')}`
  }
  const ids = Array.from({ length: groups }, (_, at) => at)
  return [
    ids.map((at) => `group${at}|uuid-${at}|${pick('preferred', 'preferred', 'last_resort')}||`),
    lines,
    instances.filter((line) => line !== ''),
    declared,
    [policy(''), ...ids.map((at) => policy(`group${at}`))],
  ]
    .map((section) => section.map((line) => `${line}\n`).join(''))
    .join('\n')
}
