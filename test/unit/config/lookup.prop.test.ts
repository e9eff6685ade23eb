// Whatever changes were made, refused or replaced the whole configuration: indexes and reservations answer as if they had
// looked at every object.
import * as fc from 'fast-check'
import { applyChange, type NamedChange } from '../../../src/config/changes'
import * as lookup from '../../../src/config/lookup'
import { recordFrom } from '../../../src/config/records'
import { Reservations } from '../../../src/config/reservations'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { seededRandom } from '../../../src/lib/random'
import type { ConfigData, Disk, Documents, ObjectKind } from '../../../src/model/config'
import { nodeUuid } from '../../../src/model/ids'
import type { ClientId } from '../../../src/model/lock'
import { covers, kindsWithout, knownTo, type Scope, unseenBy } from '../../../src/services/access/scope'
import { checkProperty } from '../../support/effort'
import { arbitraryChange } from './arbitrary-changes'
import { at, buildDisk, buildNode, id, smallConfig } from './builders'

const small = smallConfig()
const nodes = [small.cluster.master_node, ...[2, 3, 4].map((n) => nodeUuid(id(0x3000000 + n)))]
const n = fc.nat({ max: 5 })
const node = fc.constantFrom(...nodes)

const mirror = (i: number, [a, b]: readonly string[], minor: number): Disk =>
  buildDisk(i, {
    dev_type: 'drbd',
    logical_id: [String(a), String(b), 11000 + minor, minor, minor, `secret${minor}`],
    children: [0, 1].map((part) =>
      buildDisk(0x100 + 2 * i + part, { dev_type: 'plain', logical_id: ['vg', `lv${i}.${part}`] }),
    ),
  })

const change: fc.Arbitrary<NamedChange> = fc.oneof(
  { weight: 3, arbitrary: arbitraryChange(small) },
  fc
    .tuple(n, n, fc.shuffledSubarray(nodes, { minLength: 2, maxLength: 2 }), fc.nat({ max: 3 }))
    .map(([i, d, ends, minor]): NamedChange => ['addInstanceDisk', id(0x1000000 + i), mirror(d, ends, minor), null]),
  fc.tuple(n, node).map(([i, where]): NamedChange => ['setInstancePrimaryNode', id(0x1000000 + i), where]),
  fc.tuple(n, n).map(([i, tag]): NamedChange => ['addTags', 'instance', id(0x1000000 + i), [`t${tag}`]]),
)

/** Every version of a history; a step back branches off, and `whole` comes as a full copy. */
function histories(steps: readonly { changes: NamedChange[]; back: number; whole: boolean }[]): ConfigData[] {
  const first = { ...small, nodes: recordFrom(Object.entries({ ...small.nodes, ...added() })) }
  const made: Documents[] = [{ config: first, gantry: EMPTY_GANTRY }]
  for (const { changes, back, whole } of steps) {
    let next = made.at(-1 - Math.min(back, made.length - 1)) ?? made[0]
    try {
      for (const one of changes) if (next) next = applyChange(next, one, at(2000)).documents
    } catch {
      continue
    }
    if (next) made.push(whole ? { ...next, config: copied(next.config) } : next)
    // So that later versions inherit indexes.
    const last = made.at(-1)
    if (last) askAll(last.config)
  }
  return made.map(({ config }) => config)
}

const added = () => Object.fromEntries([2, 3].map((i) => [id(0x3000000 + i), buildNode(small, i)]))

const KINDS: readonly ObjectKind[] = ['nodes', 'nodegroups', 'instances', 'networks', 'disks', 'filters']
const copied = (config: ConfigData): ConfigData => ({
  ...config,
  ...Object.fromEntries(KINDS.map((kind) => [kind, recordFrom(Object.entries<unknown>(config[kind]))])),
})

const uuids = (objects: readonly { uuid: string }[]) => objects.map(({ uuid }) => uuid).sort()

/** What the indexes say. */
function askAll(config: ConfigData): unknown {
  const numbers = [0, 1, 2, 3, 4, 5]
  return {
    primaries: nodes.map((one) => uuids(lookup.primaryInstances(config, one))),
    secondaries: nodes.map((one) => uuids(lookup.secondaryInstances(config, one))),
    groups: Object.keys(config.nodegroups).map((one) => uuids(lookup.nodesOfGroup(config, one))),
    candidates: uuids(lookup.masterCandidates(config)),
    macs: numbers.map((i) => uuids(lookup.instancesWithMac(config, `aa:00:00:00:00:0${i}`))),
    networks: numbers.map((i) => uuids(lookup.instancesOfNetwork(config, id(0x5000000 + i)))),
    owners: numbers.map((i) => uuids(lookup.instancesOfDisk(config, id(0x2000000 + i)))),
    secrets: numbers.map((i) => lookup.isSecretUsed(config, `secret${i}`)),
    volumes: numbers.map((i) => lookup.isVolumeUsed(config, `vg/lv${i}.1`)),
    ports: numbers.map((i) => lookup.isPortUsed(config, 11000 + i)),
    short: numbers.map((i) =>
      [`inst${i}`, `RENAMED${i}.example`].map((name) => lookup.findInstance(config, name)?.uuid),
    ),
  }
}

/** The same by looking at every object. */
function scanned(config: ConfigData): unknown {
  const [instances, disks] = [Object.values(config.instances), Object.values(config.disks)]
  const numbers = [0, 1, 2, 3, 4, 5]
  const named = (name: string) =>
    instances.filter((one) => one.name.toLowerCase().startsWith(`${name.toLowerCase()}.`)).map(({ uuid }) => uuid)
  return {
    primaries: nodes.map((one) => uuids(instances.filter(({ primary_node }) => primary_node === one))),
    secondaries: nodes.map((one) =>
      uuids(instances.filter((instance) => lookup.secondaryNodes(config, instance).includes(one))),
    ),
    groups: Object.keys(config.nodegroups).map((one) =>
      uuids(Object.values(config.nodes).filter(({ group }) => group === one)),
    ),
    candidates: uuids(
      Object.values(config.nodes).filter((one) => one.master_candidate || one.uuid === config.cluster.master_node),
    ),
    macs: numbers.map((i) =>
      uuids(instances.filter(({ nics }) => nics.some(({ mac }) => mac === `aa:00:00:00:00:0${i}`))),
    ),
    networks: numbers.map((i) =>
      uuids(instances.filter(({ nics }) => nics.some(({ network }) => network === id(0x5000000 + i)))),
    ),
    owners: numbers.map((i) => uuids(instances.filter((one) => one.disks.some((uuid) => uuid === id(0x2000000 + i))))),
    secrets: numbers.map((i) => disks.some((disk) => lookup.drbdId(disk)?.secret === `secret${i}`)),
    volumes: numbers.map((i) => disks.some((disk) => lookup.logicalVolumes(disk).join() === `vg,lv${i}.0,vg,lv${i}.1`)),
    ports: numbers.map(
      (i) =>
        instances.some(({ network_port }) => network_port === 11000 + i) ||
        disks.some((disk) => lookup.drbdId(disk)?.port === 11000 + i),
    ),
    short: numbers.map((i) =>
      [`inst${i}`, `RENAMED${i}.example`].map((name) => {
        const [only, another] = named(name)
        return another === undefined ? only : undefined
      }),
    ),
  }
}

const steps = fc.array(
  fc.record({
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 3 })),
    whole: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
  }),
  { minLength: 1, maxLength: 25 },
)

test('every version answers as a look at all of its objects does', () => {
  checkProperty(
    fc.property(steps, (all) => {
      for (const config of histories(all)) expect(askAll(config)).toEqual(scanned(config))
    }),
  )
})

const client: ClientId = [1, '/livelock', 1]

test('the lowest free minor of a node is the one that neither a disk nor a reservation has', () => {
  checkProperty(
    fc.property(steps, fc.array(node, { minLength: 1, maxLength: 6 }), (all, desired) => {
      const config = histories(all).at(-1) ?? small
      const there = desired.filter((one) => config.nodes[one] !== undefined)
      const used = new Set<string>()
      const note = (where: string, minor: number) => void used.add(`${where} ${minor}`)
      for (const disk of Object.values(config.disks)) {
        const drbd = lookup.drbdId(disk)
        if (drbd) note(drbd.nodeA, drbd.minorA)
        if (drbd) note(drbd.nodeB, drbd.minorB)
      }
      const lowest = (where: string): number => {
        let minor = 0
        while (used.has(`${where} ${minor}`)) minor++
        note(where, minor)
        return minor
      }
      const reservations = new Reservations(() => config, seededRandom(1))
      const clash = twoDisksWithOneMinor(config)
      for (const [at, where] of there.entries()) {
        if (clash.has(where)) continue
        expect(reservations.allocateMinorsFor(client, `disk ${at}`, [where])).toEqual([lowest(where)])
      }
    }),
  )
})

function twoDisksWithOneMinor(config: ConfigData): Set<string> {
  const [observed, twice] = [new Set<string>(), new Set<string>()]
  for (const disk of Object.values(config.disks)) {
    const drbd = lookup.drbdId(disk)
    for (const [where, minor] of drbd ? [[drbd.nodeA, drbd.minorA] as const, [drbd.nodeB, drbd.minorB] as const] : []) {
      if (observed.has(`${where} ${minor}`)) twice.add(where)
      observed.add(`${where} ${minor}`)
    }
  }
  return twice
}

const scope: fc.Arbitrary<Scope> = fc
  .record({
    tags: fc.subarray(['t0', 't1', 't2']),
    groups: fc.subarray(['default', 'group1', 'group2']),
  })
  .filter(({ tags, groups }) => tags.length + groups.length > 0)

test('what a scope knows follows from a look at all instances', () => {
  checkProperty(
    fc.property(steps, scope, (all, limits) => {
      for (const config of histories(all)) {
        const groupsOf = (uuid: string) => {
          const group = config.nodes[uuid]?.group
          return group === undefined ? [] : [config.nodegroups[group]?.name ?? []].flat()
        }
        const isCovered = ({ tags, primary_node }: { tags: readonly string[]; primary_node: string }) =>
          covers(limits, { tags, groups: groupsOf(primary_node) })
        const instances = Object.values(config.instances)
        const inside = instances.filter(isCovered)
        const known = knownTo(limits, config)
        expect(knownTo({ ...limits }, config)).toBe(known)
        expect(Object.keys(known.instances)).toEqual(uuids(inside))
        expect(kindsWithout(limits, config).includes('instance')).toBe(inside.length === 0)
        const used = new Set<string>(inside.flatMap((one) => lookup.instanceNodes(config, one)))
        const nodesKnown = Object.values(config.nodes).filter(
          (one) => used.has(one.uuid) || covers(limits, { tags: one.tags, groups: groupsOf(one.uuid) }),
        )
        expect(Object.keys(known.nodes)).toEqual(uuids(nodesKnown))
        const unseen = unseenBy(limits, config)
        for (const where of nodes)
          expect(unseen.primary(where)).toBe(instances.some((one) => one.primary_node === where && !isCovered(one)))
      }
    }),
  )
})
