// Texts of charts of the last hours.
export const metricsTexts = {
  title: 'Last hours',
  time: 'Time',
  zone: (zone: string) => `Times in ${zone}`,
  ask: 'Refresh',
  perSecond: (size: string) => `${size}/s`,
  none: (label: string) => `${label}: not measured`,
  summary: (label: string, last: string, mean: string, highest: string, when: string) =>
    `${label}: latest ${last}, average ${mean}, maximum ${highest} (${when})`,
  noneOfNode: 'There are no measurements of this node from the last hours.',
  noneOfInstance:
    'There are no measurements from the last hours. Only running KVM instances are measured, once a minute.',
  missing: (node: string, why: string) => `Measurements of ${node} are missing: ${why}`,
  processors: 'Processors',
  busy: 'Busy processors',
  load: 'Load and processors',
  loadAverage: 'Load average (1 minute)',
  memory: 'Memory',
  used: 'In use',
  total: 'Total',
  disks: 'Disk traffic',
  read: 'Read',
  written: 'Written',
  network: 'Network traffic',
  received: 'Received',
  sent: 'Sent',
}
