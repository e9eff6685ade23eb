// The machines of Ganeti's QA: four with systemd and our packages, or with Debian's Ganeti, in which whoever has the key in the given folder
// may log in.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { Machines, SHARED } from '../../machines/machines'
import { buildGantry, buildNode } from '../../machines/packages'
import type { Product } from './outcomes'

const ALL = [1, 2, 3, 4] as const
const INSTANCES = Array.from({ length: 20 }, (_, index) => index + 1)
/** Where the QA runs. */
const OUTSIDE = '10.88.0.99/24'
const HOSTS = ['10.88.0.11 renamed.machines.test', ...INSTANCES.map((n) => `10.88.0.${100 + n} inst${n}.machines.test`)]

const SYSTEMS = path.join(__dirname, '../../../os')

export async function startMachines(folder: string, product: Product): Promise<Machines> {
  const machines = new Machines(HOSTS)
  try {
    if (product === 'gantry') {
      const packages = path.join(machines.folder, 'packages')
      await machines.install([buildNode(packages), ...buildGantry(packages, '0.1.0')])
    }
    const system = path.join(folder, 'os.tar')
    execFileSync('tar', ['-C', SYSTEMS, '--owner=root', '--group=root', '-cf', system, 'gantry-tiny'])
    machines.share(system)
    execFileSync('ssh-keygen', ['-q', '-t', 'rsa', '-b', '2048', '-N', '', '-C', 'qa', '-f', path.join(folder, 'key')])
    machines.share(path.join(folder, 'key.pub'))
    const script = machines.share(path.join(__dirname, 'machine.sh'))
    await Promise.all(
      ALL.map(async (machine) => {
        await machines.start(machine, product === 'gantry' ? 'root' : 'ganeti')
        await machines.run(machine, `sh ${script} ${SHARED}`)
      }),
    )
    await machines.run(1, `rm ${SHARED}/*`)
    await writeSite(machines, folder)
    return machines
  } catch (error) {
    await machines.remove()
    throw error
  }
}

/** Words before a command that is to reach the machines by their names and with the key, and whose processes end with it. */
export function reaching(machines: Machines, folder: string): string[] {
  const lines = [
    `ip address replace ${OUTSIDE} dev lan`,
    `mount --bind ${path.join(folder, 'hosts')} /etc/hosts`,
    // An agent hands the key on to the machines: of their own they have only those that the cluster makes.
    'ssh-agent sh -c \'ssh-add -q "$1/key" && export TMPDIR="$1" PATH="$1:$PATH" && shift && exec "$@"\' - "$@"',
    // The shell stays, so that all ends with it: what becomes the agent, with a group of its own, is not ended with its parent.
    ':',
  ]
  const apart = 'unshare -m -p -f --kill-child=KILL --mount-proc'.split(' ')
  return [...machines.inside, ...apart, 'sh', '-e', '-c', lines.join('\n'), '-', folder]
}

/** What whoever runs the QA has: names of the machines, their keys, and an `ssh` that knows them. */
async function writeSite(machines: Machines, folder: string): Promise<void> {
  const keys = await Promise.all(ALL.map((machine) => machines.run(machine, 'cat /etc/ssh/ssh_host_*_key.pub')))
  // A node gets the master's keys when it joins.
  const known = keys.join('').replaceAll(/^/gm, '* ').trimEnd()
  const write = (name: string, text: string, mode = 0o600) => fs.writeFileSync(path.join(folder, name), text, { mode })
  write('known_hosts', `${known}\n`)
  write('hosts', machines.hosts, 0o644)
  const config = [`UserKnownHostsFile ${path.join(folder, 'known_hosts')}`, 'GlobalKnownHostsFile none']
  write('ssh_config', `${config.join('\n')}\n`)
  write('ssh', `#!/bin/sh\nexec /usr/bin/ssh -F ${path.join(folder, 'ssh_config')} "$@"\n`, 0o755)
}
