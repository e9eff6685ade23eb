// gnt-cluster init: the settings of a new cluster. gnt-cluster modify shares the code for common options. This file has
// the differences: defaults for an empty cluster, and settings that cannot change later.
import type { FirstFields } from '../../model/cluster'
import { DEFAULT_VG, DRBD_DEFAULT_HELPER } from '../../model/constants/disks'
import { DEFAULT_BRIDGE, DEFAULT_OVS, IPOLICY_DEFAULTS } from '../../model/constants/params'
import { SSH_KEY_BITS, SSH_KEY_TYPE_DEFAULT } from '../../model/constants/words'
import type { IpVersion } from '../../model/ip'
import { enforceTypes } from '../../model/param-types'
import { clusterChanges } from './modify'
import type { Call } from '../command'
import { CommandFailure, EXIT, refusal } from '../outcome'
import type { OptionValues } from '../input/option-values'
import { OpClusterPostInit } from '../../opcodes/cluster'
import { defaultsFor, type Defaults } from './defaults'
import { firstArgument, opcodeOf } from '../submit/submit'
import { isDiskTemplate, isOnLvm, isDrbd } from '../../model/templates'

export async function initCluster(call: Call): Promise<number> {
  const { options, terminal, clock } = call
  const version = ipVersion(options)
  // Only this command loads it.
  const [service, { masterIpBecomes, noMasterIp }, { nodeDaemons }, { ROLES }, node] = await Promise.all([
    import('../../bootstrap/init-cluster.js'),
    import('../../bootstrap/master-ip.js'),
    import('../../bootstrap/plain-daemons.js'),
    import('../../roles/table.js'),
    call.newNode(),
  ])
  const note = (text: string) => terminal.out(text)
  const input = settings(options, await defaultsFor(options, node, note), note)
  const cluster = { ...(await node.firstFields({ ...input }, version)), ...sshKeys(options) }
  const secondaryAddress = options.text('secondary_ip')
  const made = await service.initCluster({ name: firstArgument(call), secondaryAddress, cluster }, { ...node, clock })
  terminal.out(`Cluster ${made.name} is made, and this node, ${made.host}, is its master.`)
  const daemons = await nodeDaemons({ ...node, roles: ROLES })
  if (daemons !== undefined) {
    await daemons.startAll()
    // Runs hooks as soon as daemons exist to run them.
    await call.jobs.run(opcodeOf(OpClusterPostInit, {}))
    if (!(await masterIpBecomes(true, made.address, { paths: node.paths, clock }))) terminal.err(noMasterIp())
    return EXIT.ok
  }
  terminal.out(`Its daemons run as long as this program does, which the node's init system should start:`)
  terminal.out(`  ${startCommand(node.paths)}`)
  return EXIT.ok
}

const startCommand = ({ root, hostname }: { root: string; hostname: string }): string =>
  root === '' ? 'gantryd node' : `GANETI_ROOTDIR=${root} GANETI_HOSTNAME=${hostname} gantryd node`

function ipVersion(options: OptionValues): IpVersion {
  const version = String(options.raw('primary_ip_version'))
  if (!/^\d+$/.test(version)) throw new CommandFailure(`Invalid primary ip version value: '${version}'`)
  if (version !== '4' && version !== '6') throw refusal(`Invalid primary ip version: ${version}.`)
  return version === '4' ? 4 : 6
}

function sshKeys(options: OptionValues): Pick<FirstFields, 'modify_ssh_setup' | 'ssh_key_type' | 'ssh_key_bits'> {
  const type = options.text('ssh_key_type')
  const ssh_key_type: keyof typeof SSH_KEY_BITS = type === 'dsa' || type === 'ecdsa' ? type : SSH_KEY_TYPE_DEFAULT
  const { standard, valid } = SSH_KEY_BITS[ssh_key_type]
  const ssh_key_bits = options.number('ssh_key_bits') ?? standard
  if (!valid(ssh_key_bits))
    throw refusal(`Invalid key type and bit size combination: ${ssh_key_type} with ${ssh_key_bits} bits`)
  return { modify_ssh_setup: options.flag('modify_ssh_setup'), ssh_key_type, ssh_key_bits }
}

/** Parameters of OP_CLUSTER_SET_PARAMS, and those of a new cluster only. */
function settings(options: OptionValues, proposed: Defaults, note: (text: string) => void) {
  const { hv_state, ...input } = clusterChanges(options)
  const enabled_disk_templates = options.list('enabled_disk_templates') ?? proposed.templates
  const enabled_hypervisors = options.list('enabled_hypervisors') ?? proposed.hypervisors
  const nicparams = { ...input.nicparams }
  const ovs = nicparams['mode'] === 'openvswitch'
  const netdev = options.text('master_netdev')
  const master_netdev = netdev ?? (ovs ? DEFAULT_OVS : proposed.netdev)
  if (ovs && netdev === undefined) nicparams['link'] = DEFAULT_OVS
  const isBridged = (nicparams['mode'] ?? 'bridged') === 'bridged'
  if (isBridged && proposed.bridge !== DEFAULT_BRIDGE) nicparams['link'] ??= proposed.bridge
  return {
    ...input,
    ...{ enabled_disk_templates, enabled_hypervisors, nicparams, master_netdev },
    hvparams: withProposed(input.hvparams, proposed.hvparams, enabled_hypervisors),
    vg_name: volumeGroup(options.text('vg_name'), enabled_disk_templates, note),
    drbd_helper: drbdHelper(options.text('drbd_helper'), enabled_disk_templates, note),
    hv_state: hv_state ?? Object.fromEntries(enabled_hypervisors.map((name) => [name, {}])),
    ipolicy: firstPolicy(options, input.ipolicy, enabled_disk_templates),
  }
}

type Params = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Given values override proposed ones. */
function withProposed(input: Params | undefined, proposed: Params, hypervisors: readonly string[]): Params | undefined {
  const added = Object.entries(proposed).filter(([name]) => hypervisors.includes(name))
  if (added.length === 0) return input
  return { ...input, ...Object.fromEntries(added.map(([name, params]) => [name, { ...params, ...input?.[name] }])) }
}

type Templates = readonly string[]

/** Empty for none. */
function volumeGroup(name: string | undefined, templates: Templates, note: (text: string) => void): string {
  const lvm = templates.some((template) => isDiskTemplate(template) && isOnLvm(template))
  if (name && !lvm)
    note('You specified a volume group with --vg-name, but you did not enable any disk template that uses lvm.')
  if (name === '' && lvm) throw new CommandFailure('LVM disk templates are enabled, but vg name not set.')
  return name ?? (lvm ? DEFAULT_VG : '')
}

function drbdHelper(helper: string | undefined, templates: Templates, note: (text: string) => void) {
  const drbd = templates.some(isDrbd)
  if (!drbd && helper !== undefined)
    note('Note: You specified a DRBD usermode helper, while DRBD storage is not enabled.')
  if (drbd && helper === '')
    throw new CommandFailure('Unsetting the drbd usermode helper while enabling DRBD is not allowed.')
  return helper ?? (drbd ? DRBD_DEFAULT_HELPER : undefined)
}

const SPLIT_SPECS = [
  ['ispecs_mem_size', 'memory-size', 'size'],
  ['ispecs_cpu_count', 'cpu-count', 'int'],
  ['ispecs_disk_count', 'disk-count', 'int'],
  ['ispecs_disk_size', 'disk-size', 'size'],
  ['ispecs_nic_count', 'nic-count', 'int'],
] as const

/** The policy omits disabled templates, as in Ganeti. */
function firstPolicy(options: OptionValues, input: Readonly<Record<string, unknown>> | undefined, enabled: Templates) {
  const split = splitSpecs(options)
  if (split !== undefined && (input?.['minmax'] !== undefined || input?.['std'] !== undefined))
    throw refusal('A --specs-xxx option cannot be specified together with any --ipolicy-xxx-specs option')
  const templates = options.list('ipolicy_disk_templates')?.filter((template) => enabled.includes(template))
  if (split === undefined && input === undefined) return undefined
  return { ...split, ...input, ...(templates && { 'disk-templates': templates }) }
}

/** The bounds of each resource: `--specs-mem-size min=128m,max=1g,std=256m`. */
function splitSpecs(options: OptionValues): Record<string, unknown> | undefined {
  const specs = SPLIT_SPECS.map(([dest, name, type]) => {
    const values = enforceTypes(options.keyValues(dest) ?? {}, { min: type, max: type, std: type })
    return { name, values }
  })
  if (specs.every(({ values }) => Object.keys(values).length === 0)) return undefined
  const bound = (which: 'min' | 'max' | 'std', defaults: object) => ({
    ...defaults,
    ...Object.fromEntries(specs.flatMap(({ name, values }) => (which in values ? [[name, values[which]]] : []))),
  })
  const [standard] = IPOLICY_DEFAULTS.minmax
  return {
    minmax: [{ min: bound('min', { ...standard?.min }), max: bound('max', { ...standard?.max }) }],
    std: bound('std', IPOLICY_DEFAULTS.std),
  }
}
