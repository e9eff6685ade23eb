// Nodes that know the scripts of an adoption by their texts, and what they do to whoever runs them.
import type { NodeShell } from '../../../../src/bootstrap/node-shell'
import { PROBE } from '../../../../src/bootstrap/adoption/probe'
import {
  HOLD_JOBS,
  LAST_LINES,
  MASTER_ANSWERS,
  OPEN_JOBS,
  REHEARSE,
  RELEASE_JOBS,
  TO_GANTRY,
  toGaneti,
} from '../../../../src/bootstrap/adoption/scripts'
import type { Product } from '../../../../src/bootstrap/adoption/inventory'
import { SHOWN_LINES_MAX } from '../../../../src/model/limits/adoption'

export class Machine {
  product: Product | undefined = 'ganeti'
  readonly guests = new Map<string, number>()
  /** Lines of its probe that are otherwise than those of a node with which nothing is wrong. */
  otherwise: Record<string, string> = {}
  /** Scripts that fail there; `unreachable` stands for all. */
  readonly failing = new Set<string>()
  unreachable = false
  /** Guests end when its daemons do. */
  losesGuests = false
  queueHeld = false

  probe(name: string): string {
    const packages: Record<string, string> =
      this.product === 'gantry'
        ? { 'package.gantry': 'installed 0.1.0', 'package.gantry-htools': 'installed 0.1.0' }
        : { 'package.ganeti': `${this.product === undefined ? 'half-installed' : 'installed'} 3.0.2-3` }
    const lines = {
      ...{
        systemd: 'yes',
        hostname: name,
        node: 'v20.19.0',
        room_kib: '9999999',
        way_back: 'here',
        'package.nodejs': 'installed 20.19.0',
      },
      ...packages,
      ...Object.fromEntries([...this.guests].map(([name, pid]) => [`guest.${name}`, String(pid)])),
      ...this.otherwise,
    }
    return Object.entries(lines)
      .filter(([, value]) => value !== '')
      .map(([key, value]) => `${key}=${value}\n`)
      .join('')
  }
}

export class Machines implements NodeShell {
  readonly done: string[] = []
  /** What REHEARSE prints, and how often OPEN_JOBS names a job. */
  plan = 'Remv ganeti\nInst gantry\nInst gantry-htools\n'
  jobs = 0

  constructor(readonly all: Readonly<Record<string, Machine>>) {}

  of(name: string): Machine {
    const machine = this.all[name]
    if (machine === undefined) throw new Error(`there is no ${name}`)
    return machine
  }

  run: NodeShell['run'] = ({ name }, script) => {
    const machine = this.of(name)
    if (machine.unreachable) return Promise.resolve({ code: 255, output: 'No route to host' })
    if (script === PROBE) return Promise.resolve({ code: 0, output: machine.probe(name) })
    const known = NAMES.get(script)
    if (known !== undefined) this.done.push(`${name} ${known}`)
    if (script === LAST_LINES(SHOWN_LINES_MAX)) return Promise.resolve({ code: 0, output: 'the end of its log' })
    if (machine.failing.has(known ?? '')) return Promise.resolve({ code: 1, output: '' })
    if (script === REHEARSE) return Promise.resolve({ code: 0, output: this.plan })
    if (script === OPEN_JOBS) return Promise.resolve({ code: 0, output: this.jobs-- > 0 ? '7\n' : '' })
    this.carryOut(machine, known)
    return Promise.resolve({ code: 0, output: '' })
  }

  copy: NodeShell['copy'] = ({ name }, files) => {
    this.done.push(`${name} gets ${files.length} files`)
    return Promise.resolve()
  }

  private carryOut(machine: Machine, what: string | undefined): void {
    if (what === 'to gantry') machine.product = 'gantry'
    if (what === 'to ganeti') machine.product = 'ganeti'
    if (what === 'holds jobs') machine.queueHeld = true
    if (what === 'releases jobs') machine.queueHeld = false
    if (what?.startsWith('to ') === true && machine.losesGuests) machine.guests.clear()
  }
}

const NAMES = new Map([
  [TO_GANTRY, 'to gantry'],
  [toGaneti(true), 'to ganeti'],
  [toGaneti(false), 'to ganeti'],
  [HOLD_JOBS, 'holds jobs'],
  [RELEASE_JOBS, 'releases jobs'],
  [MASTER_ANSWERS, 'is asked'],
])
