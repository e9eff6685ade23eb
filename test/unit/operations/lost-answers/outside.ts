// What nodes have besides disks and guests, for tests of lost answers: addresses, certificates, keys, power. Simulated nodes forget these.
import type { FakeCluster } from '../../../support/fake-cluster'

const newNodes = (name: string) => `certificate of ${name}`

/** `off`: nodes that the master has switched off. */
export class Outside {
  readonly hosts = new Map<string, string>()
  readonly certificates = new Map<string, string>()
  readonly files = new Map<string, string>()
  readonly off = new Set<string>()
  /** Whether the cluster's address is to be there at the end. */
  wantsAddress = true
  private address: string | undefined
  private keys: string
  private made = 0

  constructor(private readonly cluster: FakeCluster) {
    const { cluster: settings, nodes } = cluster.config
    this.address = settings.master_ip
    this.keys = settings.ssh_key_type
    for (const { uuid, name } of Object.values(nodes))
      this.certificates.set(name, settings.candidate_certs[uuid] ?? newNodes(name))
    const waiting = new Map<string, string>()
    Object.assign(cluster.answers, {
      etc_hosts_modify: (_node, [mode, name, ip]) => {
        if (mode === 'add') this.hosts.set(name, ip ?? '')
        else this.hosts.delete(name)
        return true
      },
      node_activate_master_ip: (_node, [{ ip }]) => ((this.address = ip), null),
      node_deactivate_master_ip: () => ((this.address = undefined), null),
      node_crypto_tokens: ({ name }, [[request]]) => {
        const [, action, options] = request ?? []
        if (action === 'create' && options !== null) waiting.set(name, `certificate ${++this.made}`)
        else if (action === 'create') this.certificates.set(name, `certificate ${++this.made}`)
        else if (action === 'install') this.certificates.set(name, waiting.get(name) ?? '')
        const displayed = action === 'create' && options !== null ? waiting : this.certificates
        return [['ssl', displayed.get(name) ?? newNodes(name)]]
      },
      node_ssh_keys_renew: (_node, args) => ((this.keys = args[5]), []),
      run_oob: (_node, [, command, name]) => {
        if (command === 'power-off') this.off.add(name)
        return null
      },
      upload_file: ({ name }, [{ path, content }]) => {
        this.files.set(`${name} ${path}`, content)
        if (name === this.master) cluster.files.set(path, content)
        return null
      },
      restricted_command: () => '',
      repair_command: () => '',
      storage_modify: () => null,
      storage_execute: () => null,
      node_powercycle: () => 'Reboot scheduled',
    } satisfies FakeCluster['answers'])
  }

  /** What does not agree with the configuration, each by the way out that somebody must read. */
  differences(): string[] {
    const { cluster: settings, nodes } = this.cluster.config
    const members = Object.values(nodes)
    const found: string[] = []
    if (this.address !== (this.wantsAddress ? settings.master_ip : undefined))
      found.push(this.wantsAddress ? 'activate-master-ip' : 'deactivate the master IP')
    for (const name of this.hosts.keys())
      if (!members.some((one) => one.name === name)) found.push(`Could not take ${name} out of the hosts file again`)
    for (const { uuid, name, master_candidate } of members) {
      const own = this.certificates.get(name) ?? newNodes(name)
      const known = Object.entries(settings.candidate_certs).filter(([key]) => key.startsWith(uuid))
      if (master_candidate && !known.some(([, digest]) => digest === own)) found.push('--new-node-certificates')
      if (!master_candidate && known.length > 0) found.push('--new-node-certificates')
    }
    if (this.keys !== settings.ssh_key_type) found.push('gnt-cluster renew-crypto --new-ssh-keys')
    for (const name of this.off)
      if (members.some((one) => one.name === name && one.powered)) found.push(`gnt-node power status ${name}`)
    return found
  }

  private get master(): string {
    const { cluster, nodes } = this.cluster.config
    return nodes[cluster.master_node]?.name ?? ''
  }
}
