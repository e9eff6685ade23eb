// Codes of `cluster verify`: the complaint of each, and the kind of object that it is about.
export interface VerifyCode {
  readonly target: 'cluster' | 'group' | 'instance' | 'node'
  readonly meaning: string
}

export const VERIFY_CODES = {
  ECLUSTERCERT: { target: 'cluster', meaning: 'cluster certificate problem' },
  ECLUSTERCFG: { target: 'cluster', meaning: 'configuration inconsistent' },
  ECLUSTERCLIENTCERT: { target: 'cluster', meaning: 'node client certificate problem' },
  ECLUSTERFILECHECK: { target: 'cluster', meaning: 'cluster-wide file differs or missing' },
  EGROUPDIFFERENTPVSIZE: { target: 'group', meaning: 'PV sizes differ' },
  EINSTANCEBADNODE: { target: 'instance', meaning: 'marked running on offline node' },
  EINSTANCEDOWN: { target: 'instance', meaning: 'should run, does not' },
  EINSTANCEFAULTYDISK: { target: 'instance', meaning: 'disk state bad or unreadable' },
  EINSTANCELAYOUT: { target: 'instance', meaning: 'bad secondary layout' },
  EINSTANCEMISSINGCFGPARAMETER: { target: 'instance', meaning: 'required parameter unset' },
  EINSTANCEMISSINGDISK: { target: 'instance', meaning: 'volume missing' },
  EINSTANCEPOLICY: { target: 'instance', meaning: 'violates instance policy' },
  EINSTANCESPLITGROUPS: { target: 'instance', meaning: 'primary and secondary in different groups' },
  EINSTANCEUNSUITABLENODE: { target: 'instance', meaning: 'node unsuitable' },
  EINSTANCEWRONGNODE: { target: 'instance', meaning: 'runs on a node other than primary' },
  ECLUSTERDANGLINGINST: { target: 'node', meaning: 'instance on unknown node' },
  ECLUSTERDANGLINGNODES: { target: 'node', meaning: 'node in unknown group' },
  EEXTAGS: { target: 'node', meaning: 'exclusion tag conflict' },
  ENODEDRBD: { target: 'node', meaning: 'DRBD state problem' },
  ENODEDRBDHELPER: { target: 'node', meaning: 'DRBD usermode helper problem' },
  ENODEDRBDVERSION: { target: 'node', meaning: 'DRBD versions differ in group' },
  ENODEFILECHECK: { target: 'node', meaning: 'file checksum not returned' },
  ENODEFILESTORAGEPATHS: { target: 'node', meaning: 'forbidden file storage paths' },
  ENODEFILESTORAGEPATHUNUSABLE: { target: 'node', meaning: 'file storage dir unusable' },
  ENODEGLUSTERSTORAGEPATHUNUSABLE: { target: 'node', meaning: 'gluster dir unusable' },
  ENODEHOOKS: { target: 'node', meaning: 'verify hook failed' },
  ENODEHV: { target: 'node', meaning: 'hypervisor check failed' },
  ENODELVM: { target: 'node', meaning: 'LVM problem' },
  ENODEN1: { target: 'node', meaning: 'not N+1 safe' },
  ENODENET: { target: 'node', meaning: 'network/connectivity problem' },
  ENODEOOBPATH: { target: 'node', meaning: 'OOB helper missing' },
  ENODEORPHANINSTANCE: { target: 'node', meaning: 'unknown instance running' },
  ENODEORPHANLV: { target: 'node', meaning: 'unknown logical volume' },
  ENODEOS: { target: 'node', meaning: 'OS definition problem' },
  ENODERPC: { target: 'node', meaning: 'RPC failed' },
  ENODESETUP: { target: 'node', meaning: 'node set up incompletely' },
  ENODESHAREDFILESTORAGEPATHUNUSABLE: { target: 'node', meaning: 'shared file storage dir unusable' },
  ENODESSH: { target: 'node', meaning: 'ssh problem' },
  ENODETIME: { target: 'node', meaning: 'clock off' },
  ENODEUSERSCRIPTS: { target: 'node', meaning: 'user script missing or not executable' },
  ENODEVERSION: { target: 'node', meaning: 'version mismatch' },
} as const satisfies Record<string, VerifyCode>

export type VerifyCodeName = keyof typeof VERIFY_CODES

const isName = (name: string): name is VerifyCodeName => Object.hasOwn(VERIFY_CODES, name)

/** In the order in which the interfaces list them. */
export const VERIFY_CODE_NAMES: readonly VerifyCodeName[] = Object.keys(VERIFY_CODES).filter(isName).sort()
