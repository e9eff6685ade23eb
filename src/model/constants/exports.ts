// Exports of instances, and transfers of their disks.

export const EXPORT_CONF_FILE = 'config.ini'
/** Sections of the file that describes an export. */
export const EXPORT_SECTION = {
  export: 'export',
  instance: 'instance',
  hypervisor: 'hypervisor',
  backend: 'backend',
  os: 'os',
  osPrivate: 'os_private',
} as const

/** Greeting of transfers between clusters. */
export const RIE_HANDSHAKE = "Hi, I'm Ganeti"
/** Seconds: the validity of their certificates, and the time limit for their connection. */
export const RIE_CERT_VALIDITY_S = 86400
export const RIE_CONNECT_TIMEOUT_S = 180
/** Type of the log entry that tells the sending cluster where to send. */
export const ELOG_REMOTE_IMPORT = 'remote-import'
/** Seconds that a helper machine may take to zero free space: a fixed part, and a part for each MiB of the disks. */
export const HELPER_VM_STARTUP_S = 300
export const ZEROING_TIMEOUT_PER_MIB_S = 0.05
/** Seconds: the time limit for the connection of a transfer within the cluster. */
export const DISK_TRANSFER_CONNECT_TIMEOUT_S = 60
