// Where Ganeti keeps its files (constants.json "paths"), below the virtual root in a virtual cluster.
import * as os from 'node:os'
import * as path from 'node:path'

/** Prefix of paths on the wire between virtual nodes, as in Ganeti's vcluster. */
const VIRTUAL_MARK = '/###-VIRTUAL-PATH-###,'

export interface Paths {
  /** '' on a real node; otherwise the node's virtual root, whose last part is the host name. */
  readonly root: string
  readonly hostname: string
  readonly dataDir: string
  readonly configFile: string
  readonly journalFile: string
  readonly gantryFile: string
  readonly locksFile: string
  /** The history of events. */
  readonly eventsFile: string
  readonly tempresFile: string
  readonly serverCert: string
  readonly clientCert: string
  readonly rapiCert: string
  readonly spiceCert: string
  readonly spiceCaCert: string
  readonly rapiUsers: string
  readonly hmacKey: string
  readonly domainSecret: string
  /** SSH keys of all nodes that may become the master. */
  readonly sshPublicKeys: string
  readonly queueDir: string
  /** Records that the files of the queue still lack. */
  readonly queueJournal: string
  readonly archiveDir: string
  readonly runDir: string
  readonly socketDir: string
  readonly livelockDir: string
  readonly logDir: string
  readonly lockDir: string
  readonly bdevCacheDir: string
  readonly instanceReasonDir: string
  /** The instances that metad serves: a file for each, and a socket for each address. */
  readonly metadataDir: string
  readonly metadataSocketDir: string
  readonly hooksDir: string
  readonly watcherPause: string
  /** The watcher's reports to the master about its last runs. */
  readonly watcherReports: string
  /** The local path for a path of Ganeti's layout, such as /srv/ganeti/os. */
  local(virtual: string): string
  /** The inverse of `local`. */
  virtual(local: string): string
  /** The path as other nodes get it: marked in a virtual cluster, unchanged otherwise. */
  toWire(local: string): string
  /** Accepts both marked and plain paths. */
  fromWire(wire: string): string
  /** The table of roles has the names. */
  socket(name: string): string
  ssconf(key: string): string
  pidFile(role: string): string
  /** Locked by the owner of the configuration's files. */
  readonly configLock: string
  /** Locked by the role as long as it runs. */
  roleLock(role: string): string
  /** The socket on which a daemon reports its figures. */
  figuresSocket(role: string): string
  /** The name of a log without its `.log`. */
  logFile(name: string): string
}

export function pathsOf(root: string, hostname: string): Paths {
  const clean = root.replace(/\/+$/, '')
  const local = (virtual: string) => {
    const normal = path.posix.normalize(virtual)
    if (!normal.startsWith('/')) throw new Error(`not an absolute path: ${JSON.stringify(virtual)}`)
    return clean + normal
  }
  const virtual = (real: string) => (clean !== '' && real.startsWith(clean + '/') ? real.slice(clean.length) : real)
  const data = local('/var/lib/ganeti')
  const run = local('/var/run/ganeti')
  const log = local('/var/log/ganeti')
  return {
    root: clean,
    hostname,
    dataDir: data,
    configFile: `${data}/config.data`,
    journalFile: `${data}/config.journal`,
    gantryFile: `${data}/gantry.data`,
    locksFile: `${data}/locks.data`,
    eventsFile: `${data}/gantry-events.data`,
    tempresFile: `${data}/tempres.data`,
    serverCert: `${data}/server.pem`,
    clientCert: `${data}/client.pem`,
    rapiCert: `${data}/rapi.pem`,
    spiceCert: `${data}/spice.pem`,
    spiceCaCert: `${data}/spice-ca.pem`,
    rapiUsers: `${data}/rapi/users`,
    hmacKey: `${data}/hmac.key`,
    domainSecret: `${data}/cluster-domain-secret`,
    sshPublicKeys: `${data}/ganeti_pub_keys`,
    queueDir: `${data}/queue`,
    queueJournal: `${data}/queue/journal`,
    archiveDir: `${data}/queue/archive`,
    runDir: run,
    socketDir: `${run}/socket`,
    livelockDir: `${run}/livelocks`,
    logDir: log,
    lockDir: local('/var/lock'),
    configLock: `${run}/ganeti-config.lock`,
    bdevCacheDir: `${run}/bdev-cache`,
    instanceReasonDir: `${run}/instance-reason`,
    metadataDir: `${run}/metad`,
    metadataSocketDir: `${run}/socket/metad`,
    hooksDir: local('/etc/ganeti/hooks'),
    watcherPause: `${data}/watcher.pause`,
    watcherReports: `${data}/gantry-watcher.data`,
    local,
    virtual,
    toWire: (real) => (clean === '' ? real : VIRTUAL_MARK + virtual(real)),
    fromWire: (wire) => local(wire.startsWith(VIRTUAL_MARK) ? wire.slice(VIRTUAL_MARK.length) : virtual(wire)),
    socket: (name) => `${run}/socket/ganeti-${name}`,
    ssconf: (key) => `${data}/ssconf_${key}`,
    pidFile: (role) => `${run}/ganeti-${role}.pid`,
    roleLock: (role) => `${run}/ganeti-${role}.lock`,
    figuresSocket: (role) => `${run}/ganeti-${role}.figures`,
    logFile: (name) => `${log}/${name}.log`,
  }
}

/** The paths of this process, from GANETI_ROOTDIR and GANETI_HOSTNAME as in Ganeti's virtual clusters. */
export function environmentPaths(): Paths {
  const root = process.env['GANETI_ROOTDIR'] ?? ''
  const hostname = process.env['GANETI_HOSTNAME'] ?? os.hostname()
  if (root !== '' && path.basename(root) !== hostname)
    throw new Error(`GANETI_ROOTDIR (${root}) must end in GANETI_HOSTNAME (${hostname})`)
  return pathsOf(root, hostname)
}
