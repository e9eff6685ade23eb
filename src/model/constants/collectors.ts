// Collectors of monitoring data, by the names under which the configuration switches them.

/** Those that Ganeti has, in the order in which it writes them. */
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
/** In addresses, the category of what has none. */
export const NO_CATEGORY = 'default'
/** The categories that may be asked for. */
export const ASKED_CATEGORIES: readonly string[] = [...REPORT_CATEGORIES, NO_CATEGORY]

/** Microseconds. */
export const DATA_COLLECTOR_INTERVAL = 5000000

/** The programs that may tell of a node what it needs. */
export const DIAGNOSE_COMMANDS_DIR = '/etc/ganeti/node-diagnose-commands'
/** The administrator of a node adds plugins to its reports here. */
export const MONITORING_PLUGINS_DIR = '/etc/ganeti/monitoring-plugins'
