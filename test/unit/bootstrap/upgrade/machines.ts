// Nodes that know the scripts of an upgrade by their texts: what they run, what they have, and what fails there.
import { MASTER_ANSWERS, OPEN_JOBS } from '../../../../src/bootstrap/adoption/scripts'
import type { NodeShell } from '../../../../src/bootstrap/node-shell'
import * as scripts from '../../../../src/bootstrap/upgrade/scripts'
import { CONFIG_VERSION, CONFIG_VERSIONS_SUPPORTED } from '../../../../src/model/constants/versions'

export class Machine {
  runs = '0.1.0'
  daemons = true
  /** What each version that is there says of itself. */
  readonly releases = new Map<string, object>(['0.1.0', '0.1.1'].map((version) => [version, releaseOf(version)]))
  readonly notStarting = new Set<string>()
  /** Scripts that fail there, by name. */
  readonly failing = new Set<string>()
  /** Daemons of this version do not start. */
  broken: string | undefined
  unreachable = false
  /** The version of Ganeti whose package was kept when Gantry took over. */
  ganeti = ''
}

export const releaseOf = (version: string, config_versions: readonly number[] = CONFIG_VERSIONS_SUPPORTED): object => {
  return { version, config_version: Math.max(...config_versions), config_versions, more: CONFIG_VERSION }
}

export class Machines implements NodeShell {
  readonly done: string[] = []
  drained = false
  resting = false
  /** How often a job is still open. */
  jobs = 0
  verifies = true
  /** Called before a script is run; the process may die there. */
  before: (what: string) => void = () => undefined

  constructor(readonly all: Readonly<Record<string, Machine>>) {}

  run: NodeShell['run'] = async ({ name }, script) => {
    const machine = this.all[name]
    if (machine === undefined) throw new Error(`there is no ${name}`)
    if (machine.unreachable) return { code: 255, output: 'No route to host' }
    const look = VERSIONS.find((version) => script === scripts.lookAt(version))
    if (look !== undefined) return { code: 0, output: reported(machine, look) }
    const what = nameOf(script)
    this.before(`${name} ${what}`)
    this.done.push(`${name} ${what}`)
    if (machine.failing.has(what)) return { code: 1, output: `${what} failed` }
    return this.carryOut(machine, what)
  }

  copy: NodeShell['copy'] = () => Promise.reject(new Error('an upgrade copies nothing'))

  private carryOut(machine: Machine, what: string): { code: number; output: string } {
    const fine = { code: 0, output: '' }
    const [verb, version = ''] = what.split(' ')
    if (verb === 'switch') machine.runs = version
    if (verb === 'return' && machine.releases.has(version)) machine.runs = version
    if (what === 'stop') machine.daemons = false
    if (what === 'start' && machine.broken === machine.runs) return { code: 1, output: 'noded did not start' }
    if (what === 'start') machine.daemons = true
    if (what === 'drain') this.drained = true
    if (what === 'undrain') this.drained = false
    if (what === 'rest') this.resting = true
    if (what === 'wake') this.resting = false
    if (what === 'queue') return { code: 0, output: `The drain flag is ${this.drained ? 'set' : 'unset'}\n` }
    if (what === 'jobs') return { code: 0, output: this.jobs-- > 0 ? '7\n' : '' }
    // Its files are a running master's own.
    if (machine.daemons && /^(backup|convert)/.test(what)) return { code: 1, output: 'wconfd is running' }
    if (what === 'backup') return { code: 0, output: '/var/lib/ganeti1.tar\n' }
    if (what === 'verify' && !this.verifies) return { code: 1, output: '* Verifying\n  - ERROR: node x: broken\n' }
    return fine
  }
}

const VERSIONS = ['0.1.0', '0.1.1', '0.0.9', '3.0']

function reported(machine: Machine, version: string): string {
  const release = machine.releases.get(version)
  const starts = release !== undefined && !machine.notStarting.has(version) ? 'starts=yes\n' : ''
  const kept = machine.ganeti !== '' && machine.ganeti.startsWith(version) ? 'ganeti=kept\n' : ''
  return `runs=${machine.runs}\nrelease=${release === undefined ? '' : JSON.stringify(release)}\n${starts}${kept}`
}

const NAMES = new Map([
  ...VERSIONS.map((version) => [scripts.switchTo(version), `switch ${version}`] as const),
  ...VERSIONS.map((version) => [scripts.switchBackTo(version), `return ${version}`] as const),
  ...([
    [scripts.STOP, 'stop'],
    [scripts.START, 'start'],
    [scripts.DRAIN, 'drain'],
    [scripts.UNDRAIN, 'undrain'],
    [scripts.REST_WATCHER, 'rest'],
    [scripts.WAKE_WATCHER, 'wake'],
    [scripts.QUEUE_STATE, 'queue'],
    [scripts.BACK_UP, 'backup'],
    [scripts.TAKE_FILE, 'take file'],
    [scripts.CONVERT_UP, 'convert up'],
    [scripts.CONVERT_DOWN, 'convert down'],
    [scripts.DISTRIBUTE, 'distribute'],
    [scripts.VERIFY, 'verify'],
    [OPEN_JOBS, 'jobs'],
    [MASTER_ANSWERS, 'answers'],
  ] as const),
])

function nameOf(script: string): string {
  const name = NAMES.get(script)
  if (name === undefined) throw new Error(`a script that is not known: ${script}`)
  return name
}
