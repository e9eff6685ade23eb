// Collectors of monitoring data. The configuration switches them under these names.

/** Ganeti's collectors, in the order in which it writes them. */
export const GANETI_COLLECTORS = [
  'cpu-avg-load',
  'diskstats',
  'drbd',
  'inst-status-xen',
  'lv',
  'xen-cpu-avg-load',
] as const

const OWN_COLLECTORS = [
  ...(['inst-status', 'inst-disk-status', 'storage', 'daemons', 'hypervisors', 'system', 'clock'] as const),
  ...(['kvm-cpu-avg-load', 'kvm-inst-rss', 'diagnose'] as const),
] as const

export const DATA_COLLECTORS = [...GANETI_COLLECTORS, ...OWN_COLLECTORS] as const
export type DataCollector = (typeof DATA_COLLECTORS)[number]

/** The categories that a report may have. */
export const REPORT_CATEGORIES = ['instance', 'storage', 'daemon', 'hypervisor', 'node'] as const
/** The category of a report without one, in URLs. */
export const NO_CATEGORY = 'default'
/** The categories in URLs. */
export const ASKED_CATEGORIES: readonly string[] = [...REPORT_CATEGORIES, NO_CATEGORY]

/** Microseconds. */
export const DATA_COLLECTOR_INTERVAL = 5000000

/** The programs that may diagnose the needs of a node. */
export const DIAGNOSE_COMMANDS_DIR = '/etc/ganeti/node-diagnose-commands'
/** The plugins that the administrator of a node adds to its reports. */
export const MONITORING_PLUGINS_DIR = '/etc/ganeti/monitoring-plugins'
/** The status of a node whose self-diagnosis must not be started, or is gone: nobody knows how the node is. */
export const NOT_RUN = 'not-run'
