// DRBD 8.4 on a machine of the tests: its tools, as far as the driver uses them, and /proc/drbd. A device is a link to the device that
// holds its data.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type Program, Refused, type StorageMachine } from './storage-machine'

const MIB = 1 << 20

interface Minor {
  connection: string
  role: string
  data?: { disk: string; meta: string; size_mib: number }
  addresses?: readonly [local: string, remote: string]
}

export function withDrbd(machine: StorageMachine): StorageMachine {
  const minors = new Map<number, Minor>()
  const marked = new Set<string>()
  const device = (minor: number) => machine.local(`/dev/drbd${minor}`)
  const get = (input: string) =>
    minors.get(Number(input)) ?? refuse(158, `${input}: Failure: (127) Device minor not allocated`)
  const write = (file: string, text: string) => {
    fs.mkdirSync(path.dirname(machine.local(file)), { recursive: true })
    fs.writeFileSync(machine.local(file), text)
  }
  const settle = () => {
    const lines = [...minors].map(([number, one]) =>
      one.data === undefined && one.addresses === undefined ? ` ${number}: cs:Unconfigured` : stateLine(number, one),
    )
    for (const [number, { data }] of minors)
      write(`/sys/block/drbd${number}/size`, `${((data?.size_mib ?? 0) * MIB) / 512}\n`)
    write(
      '/proc/drbd',
      `version: 8.4.11 (api:1/proto:86-101)\nsrcversion: F73C670A7EC572DB9CF3E5B \n${lines.join('\n')}\n`,
    )
  }
  const verbs: Record<string, (...args: string[]) => string> = {
    show: () => [...minors].map(([number, one]) => displayed(number, one)).join(''),
    'new-resource': () => '',
    'new-minor': (_resource = '', minor = '') => {
      const number = Number(minor)
      if (!minors.has(number)) minors.set(number, { connection: 'StandAlone', role: 'Secondary' })
      return ''
    },
    attach: (minor = '', disk = '', meta = '', ...options) => {
      const one = get(minor)
      if (one.data !== undefined) refuse(10, `${minor}: Failure: (124) Device is attached to a disk (use detach first)`)
      if (!marked.has(meta)) refuse(10, `${minor}: Failure: (119) No valid meta-data signature found.`)
      const size = Number(/^(\d+)m$/.exec(options[options.indexOf('--size') + 1] ?? '')?.[1])
      one.data = { disk, meta, size_mib: size }
      fs.symlinkSync(machine.local(disk), device(Number(minor)))
      return ''
    },
    'disk-options': () => '',
    connect: (resource = '', local = '', remote = '') => {
      const one = get(resource.replace('resource', ''))
      one.addresses = [local, remote]
      one.connection = 'WFConnection'
      return ''
    },
    disconnect: (local = '') => {
      const one = [...minors.values()].find(({ addresses }) => addresses?.[0] === local)
      if (one === undefined) return refuse(10, 'Failure: (158) Unknown connection')
      delete one.addresses
      one.connection = 'StandAlone'
      return ''
    },
    primary: (minor = '') => {
      get(minor).role = 'Primary'
      return ''
    },
    secondary: (minor = '') => {
      get(minor).role = 'Secondary'
      return ''
    },
    detach: (minor = '') => {
      delete get(minor).data
      fs.rmSync(device(Number(minor)))
      return ''
    },
    resize: (minor = '', _size = '', size = '') => {
      const { data } = get(minor)
      if (data !== undefined) data.size_mib = Number(size.replace('m', ''))
      return ''
    },
    down: (resource = '') => {
      const number = Number(resource.replace('resource', ''))
      minors.delete(number)
      fs.rmSync(device(number), { force: true })
      return ''
    },
  }
  const drbdsetup: Program = ([verb = '', ...args]) => {
    const answer = verbs[verb]?.(...args) ?? refuse(20, `unknown command: ${verb}`)
    settle()
    return answer
  }
  machine.programs.set('drbdsetup', drbdsetup)
  machine.programs.set('drbdmeta', (args) => {
    const meta = args[args.indexOf('v08') + 1] ?? ''
    if (args.includes('create-md')) marked.add(meta)
    else if (!marked.has(meta)) refuse(255, 'No valid meta data found')
    return ''
  })
  settle()
  return machine
}

function refuse(code: number, text: string): never {
  throw new Refused(`${text}\n`, code)
}

const stateLine = (number: number, { connection, role, data }: Minor): string =>
  ` ${number}: cs:${connection} ro:${role}/Unknown ds:${data ? 'UpToDate' : 'Diskless'}/DUnknown   r-----\n` +
  '    ns:0 nr:0 dw:0 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0'

/** In the format of drbdsetup. */
function displayed(number: number, { data, addresses }: Minor): string {
  const [local, remote] = (addresses ?? []).map((one) => `        address\t\t\t${one.replace(':', ' ')};\n`)
  const disks =
    data === undefined ? '' : `            disk\t\t\t"${data.disk}";\n            meta-disk\t\t\t"${data.meta}";\n`
  return (
    `resource resource${number} {\n    options {\n    }\n    net {\n    }\n` +
    (remote === undefined ? '' : `    _remote_host {\n${remote}    }\n`) +
    `    _this_host {\n${local ?? ''}        volume 0 {\n            device\t\t\tminor ${number};\n${disks}            disk {\n` +
    '                size            \t4096s; # bytes\n            }\n        }\n    }\n}\n'
  )
}
