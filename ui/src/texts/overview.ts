// Texts of the overview: health, capacity and balance.
const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`

export const overviewTexts = {
  health: 'Health',
  allWell: 'No problems found.',
  again: 'Refresh',
  running: 'Running jobs',
  noneRunning: 'No jobs are running.',
  failed: 'Recently failed jobs',
  noneFailed: 'No recent job failed.',
  counts: 'At a glance',
  badInstances: (count: number, status: string) => `${many(count, 'instance', 'instances')}: ${status}`,
  offlineNodes: (count: number) => `${count === 1 ? '1 node is' : `${count} nodes are`} offline`,
  drainedNodes: (count: number) => `${count === 1 ? '1 node is' : `${count} nodes are`} drained`,
  degradedDisks: (count: number) => `Disks are degraded on ${many(count, 'node', 'nodes')}`,
  verify: (count: number, job: number) => `Verify found ${many(count, 'problem', 'problems')} (job ${job})`,
  neverVerified: 'There is no result of a verification: verify the cluster',
  monitoring: 'Monitoring',
  notShown: (why: string) => `Not shown. ${why}.`,
  more: (count: number) => `and ${count.toLocaleString('en')} more`,
  hypervisors: 'Hypervisors',
  templates: 'Disk templates',
  version: 'Version',
  master: 'Master',
  capacity: {
    title: 'Capacity and reserve',
    group: 'Group',
    room: 'Room for',
    reserve: 'If a node fails',
    spec: (memory: string, vcpus: number, disk: string | undefined) =>
      `Counted in instances of the standard size: ${memory} memory, ${many(vcpus, 'vCPU', 'vCPUs')}${disk === undefined ? '' : `, ${disk} disk`}.`,
    fits: (count: number, most: number) => (count >= most ? `${most} or more` : String(count)),
    safe: 'All instances can fail over',
    unsafe: (count: number) => `${many(count, 'node lacks', 'nodes lack')} reserve`,
  },
  balance: {
    title: 'Balance',
    score: 'Score',
    better: (count: number, after: string) => `${many(count, 'move', 'moves')} would improve the score to ${after}.`,
    even: 'The load is balanced.',
    show: 'Show the moves',
  },
  events: {
    title: 'Recent events',
    none: 'No recent events.',
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
