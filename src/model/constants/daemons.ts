// Daemons: names, ports, accounts, log files.
export const PORT = { noded: 1811, confd: 1814, mond: 1815, maintd: 1816, rapi: 5080, metad: 80, ssh: 22 } as const
export const VNC_BASE_PORT = 5900
/** Masters of Ganeti may name them. They never run here, so there is nothing to stop. */
export const FOREIGN_DAEMONS: readonly string[] = ['ganeti-masterd']

/** Accounts that own files and run daemons, as Debian's packages name them. */
export const USER = {
  noded: 'root',
  mond: 'root',
  kvmd: 'root',
  masterd: 'gnt-masterd',
  rapi: 'gnt-rapi',
  confd: 'gnt-confd',
  metad: 'gnt-metad',
} as const
export const GROUP = {
  noded: 'root',
  mond: 'root',
  masterd: 'gnt-masterd',
  luxid: 'gnt-luxid',
  rapi: 'gnt-rapi',
  confd: 'gnt-confd',
  metad: 'gnt-metad',
  daemons: 'gnt-daemons',
  admin: 'gnt-admin',
} as const

/** File modes. */
export const MODE = {
  ssconf: 0o444,
  secureFile: 0o600,
  secureDirectory: 0o700,
  runDirectory: 0o775,
  luxiSocket: 0o660,
  queueFile: 0o640,
  config: 0o640,
} as const

export const EXIT = {
  success: 0,
  failure: 1,
  notCluster: 5,
  notMaster: 11,
  nodeSetup: 12,
  confirmation: 13,
  unknownField: 14,
} as const
