// Storage that a machine reaches over the network, as far as drivers use it: Ceph's `rbd`, a Gluster volume, and a provider of external
// storage. The data is in files below a folder of the test. The programs print and fail like the real ones.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { TestNode } from '../node-context'
import { type Program, Refused, type StorageMachine } from './storage-machine'

const MIB = 1 << 20
const PROVIDER_FOLDER = '/usr/share/ganeti/extstorage/shelf'
/** The machine's own address. */
const OWN = '192.0.2.1'
const SCRIPTS = ['create', 'remove', 'grow', 'attach', 'detach', 'setinfo', 'verify', 'open', 'close', 'snapshot']

export interface Pools {
  /** The clients of each image, by its name. */
  readonly watchers: Map<string, string[]>
  /** The calls of the provider's scripts. */
  readonly given: { readonly script: string; readonly env: Readonly<Record<string, string>> }[]
}

/** A Ceph cluster that several machines reach. */
export interface Ceph {
  /** The folder of the images. */
  readonly images: string
  readonly watchers: Map<string, string[]>
}

/** Without a Ceph cluster, the machine has one of its own. */
export function addPools(machine: StorageMachine, node: Pick<TestNode, 'put'>, shared?: Ceph, address = OWN): Pools {
  const { local, programs } = machine
  fs.mkdirSync(local('/dev/'), { recursive: true })
  fs.mkdirSync(path.dirname(local('/proc/mounts')), { recursive: true })
  fs.writeFileSync(local('/proc/mounts'), 'proc /proc proc rw 0 0\n')
  const ceph = shared ?? { images: local('/dev/ceph'), watchers: new Map<string, string[]>() }
  const { watchers } = ceph
  programs.set('rbd', rbd(local, ceph, address))
  programs.set('mount', (args) => {
    fs.appendFileSync(local('/proc/mounts'), `${args.at(-2) ?? ''} ${args.at(-1) ?? ''} fuse.glusterfs rw 0 0\n`)
    return ''
  })
  programs.set('umount', ([place = '']) => {
    const lines = fs.readFileSync(local('/proc/mounts'), 'utf8').split('\n')
    fs.writeFileSync(local('/proc/mounts'), lines.filter((line) => !line.includes(` ${place} `)).join('\n'))
    return ''
  })
  return { watchers, given: addProvider(machine, node) }
}

function rbd(local: (file: string) => string, { images, watchers }: Ceph, address: string): Program {
  fs.mkdirSync(images, { recursive: true })
  const numbers = () => fs.readdirSync(local('/dev/')).filter((name) => /^rbd\d+$/.test(name))
  const target = (device: string) => path.basename(fs.readlinkSync(local(`/dev/${device}`)))
  const image = (name: string) => {
    const file = path.join(images, path.basename(name))
    if (!fs.existsSync(file)) throw new Refused(`rbd: error opening image ${name}: (2) No such file or directory\n`, 2)
    return file
  }
  const fresh = (name: string) => {
    const file = path.join(images, path.basename(name))
    if (fs.existsSync(file)) throw new Refused('rbd: create error: (17) File exists\n', 17)
    return file
  }
  const sizeOf = (args: readonly string[]) => Number(args[args.indexOf('--size') + 1]) * MIB
  const commands: Readonly<Record<string, (name: string, args: readonly string[]) => string>> = {
    create: (name, args) => {
      const file = fresh(name)
      fs.writeFileSync(file, '')
      fs.truncateSync(file, sizeOf(args))
      return ''
    },
    info: (name) => JSON.stringify({ name: path.basename(image(name)), size: fs.statSync(image(name)).size }),
    map: (name) => {
      let number = 0
      while (numbers().includes(`rbd${number}`)) number++
      fs.symlinkSync(image(name), local(`/dev/rbd${number}`))
      watchers.set(path.basename(name), [...(watchers.get(path.basename(name)) ?? []), address])
      return `/dev/rbd${number}\n`
    },
    resize: (name, args) => {
      fs.truncateSync(image(name), sizeOf(args))
      return ''
    },
    rm: (name) => {
      fs.rmSync(image(name))
      return ''
    },
    status: (name) => {
      const clients = watchers.get(path.basename(image(name))) ?? []
      return JSON.stringify({
        watchers: clients.map((client) => ({ address: `${client}:0/1234`, client: 4, cookie: 1 })),
      })
    },
  }
  return ([command = '', ...args]) => {
    if (command === 'showmapped')
      return JSON.stringify(
        numbers().map((name) => ({
          id: name.slice(3),
          pool: 'rbd',
          namespace: '',
          name: target(name),
          snap: '-',
          device: `/dev/${name}`,
        })),
      )
    if (command === 'ls') return JSON.stringify(fs.readdirSync(images))
    if (command === 'unmap') {
      const name = target(path.basename(args[0] ?? ''))
      fs.rmSync(local(args[0] ?? ''))
      watchers.set(name, (watchers.get(name) ?? []).filter((one) => one !== address)) // prettier-ignore
      return ''
    }
    if (command === 'mv') {
      fs.renameSync(image(args[0] ?? ''), fresh(args[1] ?? ''))
      return ''
    }
    return commands[command]?.(args[2] ?? '', args) ?? ''
  }
}

function addProvider({ local, programs }: StorageMachine, node: Pick<TestNode, 'put'>): Pools['given'] {
  for (const script of SCRIPTS) node.put(`${PROVIDER_FOLDER}/${script}`, '#!/bin/sh\n', 0o755)
  node.put(`${PROVIDER_FOLDER}/parameters.list`, 'shelf_label What stands on the shelf\n')
  const shelf = local('/dev/shelf')
  fs.mkdirSync(shelf, { recursive: true })
  const input: Pools['given'] = []
  const volume = (env: Readonly<Record<string, string>>) => {
    const file = path.join(shelf, env['VOL_NAME'] ?? '')
    if (!fs.existsSync(file)) throw new Refused('no such volume on the shelf\n', 1)
    return file
  }
  const work: Readonly<Record<string, Program>> = {
    create: (_, env) => {
      const file = path.join(shelf, env['VOL_NAME'] ?? '')
      if (fs.existsSync(file)) throw new Refused('this volume exists\n', 1)
      fs.writeFileSync(file, '')
      fs.truncateSync(file, Number(env['VOL_SIZE']) * MIB)
      return ''
    },
    attach: (_, env) => `/dev/shelf/${path.basename(volume(env))}\nkvm:shelf://${env['VOL_NAME'] ?? ''}\n`,
    grow: (_, env) => {
      fs.truncateSync(volume(env), Number(env['VOL_NEW_SIZE']) * MIB)
      return ''
    },
    remove: (_, env) => {
      fs.rmSync(volume(env))
      return ''
    },
  }
  for (const script of SCRIPTS)
    programs.set(`shelf/${script}`, (args, env) => {
      input.push({ script, env })
      return work[script]?.(args, env) ?? ''
    })
  return input
}
