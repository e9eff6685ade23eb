// Texts of charts of the last hours.
export const metricsTexts = {
  title: 'Last hours',
  time: 'Time',
  zone: (zone: string) => `Times in ${zone}`,
  ask: 'Ask again',
  perSecond: (size: string) => `${size}/s`,
  none: (label: string) => `${label}: not measured`,
  summary: (label: string, last: string, mean: string, highest: string, when: string) =>
    `${label}: ${last} at last, ${mean} on average, ${highest} at most (${when})`,
  noneOfNode: 'Nothing was measured on this node in the last hours.',
  noneOfInstance:
    'Nothing was measured in the last hours. An instance of KVM is measured once a minute while it runs; others are not.',
  missing: (node: string, why: string) => `The part of ${node} is missing: ${why}`,
  processors: 'Processors',
  busy: 'Processors at work',
  load: 'Load and processors',
  loadAverage: 'Load of a minute',
  memory: 'Memory',
  used: 'In use',
  total: 'All',
  disks: 'Disk traffic',
  read: 'Read',
  written: 'Written',
  network: 'Network traffic',
  received: 'Received',
  sent: 'Sent',
}
