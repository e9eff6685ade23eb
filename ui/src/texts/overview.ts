// Whether all is well, and what there is room for.
const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`

export const overviewTexts = {
  health: 'Is all well',
  allWell: 'Everything is as it should be.',
  again: 'Ask again',
  running: 'Jobs at work',
  noneRunning: 'Nothing is being done.',
  failed: 'Jobs that failed last',
  noneFailed: 'None of the last jobs failed.',
  counts: 'At a glance',
  badInstances: (count: number, status: string) => `${many(count, 'instance', 'instances')}: ${status}`,
  offlineNodes: (count: number) => `${count === 1 ? '1 node is' : `${count} nodes are`} offline`,
  drainedNodes: (count: number) => `${count === 1 ? '1 node is' : `${count} nodes are`} drained`,
  degradedDisks: (count: number) => `Disks are degraded on ${many(count, 'node', 'nodes')}`,
  verify: (count: number, job: number) => `Verify found ${many(count, 'thing', 'things')} (job ${job})`,
  neverVerified: 'No verification is known: verify the cluster',
  monitoring: 'Monitoring',
  notShown: (why: string) => `Not shown. ${why}.`,
  more: (count: number) => `and ${count.toLocaleString('en')} more`,
  hypervisors: 'Hypervisors',
  templates: 'Disk templates',
  version: 'Version',
  master: 'Master',
  capacity: {
    title: 'Room and reserve',
    group: 'Group',
    room: 'Room for',
    reserve: 'If a node dies',
    spec: (memory: string, vcpus: number, disk: string | undefined) =>
      `Counted in instances of the standard size: ${memory} memory, ${many(vcpus, 'vCPU', 'vCPUs')}${disk === undefined ? '' : `, ${disk} disk`}.`,
    fits: (count: number, most: number) => (count >= most ? `${most} or more` : String(count)),
    safe: 'All can be taken over',
    unsafe: (count: number) => `${many(count, 'node has', 'nodes have')} no reserve`,
  },
  balance: {
    title: 'Balance',
    score: 'Score',
    better: (count: number, after: string) => `${many(count, 'move', 'moves')} would make it ${after}.`,
    even: 'It is as even as it gets.',
    show: 'Show the moves',
  },
  events: {
    title: 'Last events',
    none: 'Nothing has happened lately.',
    what: {
      config: 'Configuration of',
      instance: 'Instance',
      node: 'Node',
      master: 'Master',
      watcher: 'Watcher',
      maintenance: 'Maintenance',
    } as Readonly<Record<string, string>>,
  },
}
