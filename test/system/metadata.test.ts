// Instances ask about themselves: a real Linux guest through QEMU, tap devices in a network namespace, and a whole embedded cluster.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as http from 'node:http'
import * as path from 'node:path'
import { type RunningMetad, startMetad } from '../../src/daemons/metad/server'
import { systemDisk } from '../../src/lib/disk'
import { systemFiles } from '../../src/lib/files'
import { silentLog } from '../../src/lib/log'
import { pathsOf } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import { METADATA_ADDRESS } from '../../src/model/constants/communication'
import { connectCommunication } from '../../src/node/network/communication'
import { openMetad } from '../../src/rpc/metad/client'
import { startCluster } from '../support/embedded-cluster'
import { contextIn, eventually, instanceDict, kvmParams, SerialConsole } from '../support/hypervisor'
import { qemuProcessesBelow, qemuSkipped, removeRoot, temporaryRoot } from '../support/hypervisor'
import { qemuPresent } from '../support/needs'
import { linuxGuestPresent, linuxGuestSkipped, linuxKernel, writeInitrd } from './linux-guest'

// QEMU runs a program of it, which must be compiled.
const { kvmHypervisor } = jest.requireActual<typeof import('../../src/node/hypervisor/kvm/kvm')>(
  '../../dist/node/hypervisor/kvm/kvm.js',
)
const whenGuest = qemuPresent && linuxGuestPresent ? test : test.skip
if (!qemuPresent) test.skip(qemuSkipped, () => undefined)
if (!linuxGuestPresent) test.skip(linuxGuestSkipped, () => undefined)

const PARAMETERS = '/ganeti/latest/os/parameters.json'
const communicationNic = (name: string, ip: string) => ({
  ...{
    uuid: '003fc157-66a8-4e6d-8b7e-ec4f69751396',
    mac: '52:54:00:bf:2f:16',
    name: `ganeti:communication:${name}`,
    ip,
  },
  nicparams: { mode: 'routed', link: 'communication_rt' },
})

whenGuest('a Linux guest gets its address from QEMU, asks the node, and reaches nothing else', async () => {
  const root = temporaryRoot()
  const context = contextIn(root)
  const { paths, clock } = context
  const hypervisor = kvmHypervisor(context)
  let metad: RunningMetad | undefined
  const other = http.createServer().listen(0, '127.0.0.1')
  try {
    await once(other, 'listening')
    const port = portOf(other)
    const nothing = () => Promise.resolve(undefined)
    metad = await startMetad({
      ...{ paths, log: silentLog, clock, random: systemRandom, files: systemFiles, disk: systemDisk },
      ...{ addresses: [], port: 0, accessLog: 'none', node: { script: nothing, installPackage: nothing } },
      isOwn: () => Promise.resolve(false),
    })
    const initrd = path.join(root, 'initrd')
    writeInitrd(initrd)
    const kernel = { kernel_path: linuxKernel, initrd_path: initrd, root_path: '/dev/ram0', serial_speed: 115200 }
    const instance = instanceDict({
      hvparams: { ...kvmParams, ...kernel, kernel_args: 'quiet panic=-1 nokaslr mitigations=off' },
      beparams: { ...instanceDict().beparams, minmem: 128, maxmem: 128 },
      nics: [communicationNic('vm1.test', '169.254.7.9')],
      osparams: { color: 'red' },
    })
    await openMetad({ path: paths.socket('metad'), clock }).updateConfig({ ...instance, osparams_secret: { key: 's' } })
    await hypervisor.start(instance, [], true)
    const console = await SerialConsole.open(paths.local('/var/run/ganeti/kvm-hypervisor/ctrl/vm1.test.serial'))
    await hypervisor.settle(instance)
    await console.expect(/READY \d+/)
    // What DHCP would give is also what the network-config of a seed says.
    console.type('ip addr add 169.254.7.9/16 dev eth0; ip link set eth0 up; echo U""P\n')
    await console.expect(/UP/)
    // More than one connection: the program of the relay is started anew for each.
    for (let time = 0; time < 2; time++) {
      console.type(`printf 'GET ${PARAMETERS} HTTP/1.0\\r\\n\\r\\n' | nc ${METADATA_ADDRESS} 80; echo E""ND\n`)
      // To the end of the connection: if the NIC went before, nc would wait for that end for ever, and the shell for nc.
      await console.expect(/\{"color":\["red","public"\],"key":\["s","secret"\]\}[^]*END/)
    }
    // The same where the NIC comes while the guest runs.
    const [nic] = instance.nics
    if (nic === undefined) throw new Error('no NIC')
    await hypervisor.hotplug(instance, 'hotremove', { target: 'nic', nic }, 0)
    await eventually(async () => {
      console.text = ''
      console.type('ls /sys/class/net; echo DO""NE\n')
      const [text] = await console.expect(/[^]*DONE/)
      return text.includes('eth0') ? undefined : true
    })
    await hypervisor.hotplug(instance, 'hotadd', { target: 'nic', nic }, 0)
    console.type(
      'until ip addr add 169.254.7.9/16 dev eth0 2>/dev/null; do sleep 1; done; ip link set eth0 up; echo U""P\n',
    )
    await console.expect(/UP/)
    console.type(`printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc ${METADATA_ADDRESS} 80; echo E""ND\n`)
    await console.expect(/\["latest"\][^]*END/)
    // QEMU's own address in that network stands for the node, where the monitoring daemon and others may listen.
    console.type(`nc -w 2 169.254.169.253 ${port} </dev/null && echo REACHED || echo UNREA""CHED\n`)
    await console.expect(/UNREACHED/)
    await hypervisor.stop(instance, { force: true })
    await eventually(async () => ((await hypervisor.isRunning(instance.name)) ? undefined : true))
    await hypervisor.cleanup(instance.name)
  } finally {
    SerialConsole.closeAll()
    other.close()
    await metad?.close()
    for (const pid of qemuProcessesBelow(root)) process.kill(pid, 'SIGKILL')
    removeRoot(root)
  }
})

function portOf(server: http.Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

const space = `gnt${systemRandom.hex(4)}`
const netns = (...words: string[]) => ['ip', 'netns', 'exec', space, ...words]
const permitted = process.geteuid?.() === 0 && spawnSync('ip', ['netns', 'add', space]).status === 0
const whenSpaces = permitted ? test : test.skip
if (!permitted) test.skip('skipped, no right to make network namespaces; run the tests as root', () => undefined)
afterAll(() => {
  if (!permitted) return
  for (const name of [space, `${space}a`, `${space}b`]) spawnSync('ip', ['netns', 'delete', name])
})

whenSpaces(
  'guests behind tap devices are told apart by the route to each, and nobody else is told anything',
  async () => {
    const root = temporaryRoot()
    const paths = pathsOf(path.join(root, 'node1.test'), 'node1.test')
    const ip = (...args: string[]) => execFileSync('ip', args)
    let daemon: ChildProcess | undefined
    try {
      ip('-n', space, 'link', 'set', 'lo', 'up')
      // The other end of each device is a namespace that stands for a guest.
      const run = async (argv: readonly string[]) => {
        const { status, stdout, stderr } = spawnSync('ip', ['netns', 'exec', space, ...argv], { encoding: 'utf8' })
        return { code: status ?? 1, stdout, output: stdout + stderr, signal: null }
      }
      const guests = [
        ['a', '169.254.0.5'],
        ['b', '169.254.0.6'],
      ] as const
      for (const [index, [guest, address]] of guests.entries()) {
        const tap = `gnt.com.${index}`
        ip('netns', 'add', space + guest)
        ip('-n', space, 'link', 'add', tap, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space + guest)
        await connectCommunication({ run: run as never }, communicationNic(guest, address), tap)
        ip('-n', space + guest, 'address', 'add', `${address}/16`, 'dev', 'eth0')
        ip('-n', space + guest, 'link', 'set', 'eth0', 'up')
      }
      fs.mkdirSync(paths.dataDir, { recursive: true })
      const words = netns(
        process.execPath,
        path.join(__dirname, '../../bin/gantryd.js'),
        'metad',
        '-b',
        METADATA_ADDRESS,
      )
      daemon = spawn(words[0] ?? '', words.slice(1), {
        stdio: 'ignore',
        env: { ...process.env, GANETI_ROOTDIR: paths.root, GANETI_HOSTNAME: 'node1.test' },
      })
      const metad = openMetad({ path: paths.socket('metad'), clock: contextIn(root).clock })
      await eventually(() => metad.echo('x').catch(() => undefined))
      for (const [guest, address] of guests) {
        const instance = instanceDict({
          name: guest,
          nics: [communicationNic(guest, address)],
          osparams: { is: guest },
        })
        await metad.updateConfig(instance)
      }
      const ask = (guest: string, ...more: string[]) =>
        spawnSync('ip', ['netns', 'exec', guest, process.execPath, '-e', ASK, ...more], { encoding: 'utf8' }).stdout
      await eventually(async () => (ask(`${space}a`).startsWith('200') ? true : undefined))
      expect(ask(`${space}a`)).toBe('200 {"is":["a","public"]}')
      expect(ask(`${space}b`)).toBe('200 {"is":["b","public"]}')
      expect(ask(`${space}b`, '169.254.0.5')).toBe('200 {"is":["b","public"]}')
      // A guest that takes the address of another one hears nothing at all: the node answers the owner.
      ip('-n', `${space}b`, 'address', 'flush', 'dev', 'eth0')
      ip('-n', `${space}b`, 'address', 'add', '169.254.0.5/16', 'dev', 'eth0')
      expect(ask(`${space}b`)).toBe('nothing')
      // The node itself, and whoever has the address of an instance that is not here any more.
      expect(ask(space)).toBe('404 Resource not found')
      ip('-n', space, 'link', 'delete', 'gnt.com.0')
      ip('-n', space, 'address', 'add', '169.254.0.5/32', 'dev', 'lo')
      expect(ask(space, '', '169.254.0.5')).toBe('404 Resource not found')
    } finally {
      daemon?.kill('SIGTERM')
      removeRoot(root)
    }
  },
)

/** Run in a guest's place: `node -e ... [X-FORWARDED-FOR] [LOCAL-ADDRESS]`. */
const ASK = `
const [forwarded = '', localAddress] = process.argv.slice(1)
const headers = forwarded === '' ? {} : { 'X-Forwarded-For': forwarded }
const options = { host: '${METADATA_ADDRESS}', path: '${PARAMETERS}', headers, localAddress, timeout: 3000 }
const request = require('node:http').get(options, (response) => {
  let text = response.statusCode + ' '
  response.on('data', (chunk) => (text += chunk)).on('end', () => process.stdout.write(text))
})
request.on('timeout', () => { process.stdout.write('nothing'); process.exit() })
request.on('error', () => { process.stdout.write('nothing'); process.exit() })
`

test('a cluster gives communication to instances and takes it away; metad comes back when it is killed', async () => {
  const cluster = await startCluster(['--nodes', '1', '--hypervisor', 'fake'])
  try {
    const node = fs.readdirSync(cluster.root).find((name) => name.startsWith('node1')) ?? ''
    const paths = pathsOf(path.join(cluster.root, node), node)
    const ask = (address: string) => answer(`${paths.metadataSocketDir}/${address}`, '/ganeti/latest/meta_data.json')
    const ok = async (...words: string[]) => {
      const { code, stderr } = await cluster.gnt(...words)
      expect({ code, stderr }).toMatchObject({ code: 0 })
    }
    const add = ['instance', 'add', '-t', 'diskless', '--no-install', '--no-start', '-o', 'gantry-tiny']
    const early = await cluster.gnt(...add, '--communication', 'yes', 'vm1')
    expect(early.stderr).toContain('gnt-cluster modify --instance-communication-network NAME')
    await ok('cluster', 'modify', '--instance-communication-network', 'comm')
    await ok(...add, '--communication', 'yes', 'vm1')
    await ok(...add, 'vm2')
    await expect(ask('169.254.0.1')).resolves.toMatch(/^200 \{"name":"vm1"/)
    await ok('instance', 'modify', '--communication', 'yes', 'vm2')
    await expect(ask('169.254.0.2')).resolves.toMatch(/^200 \{"name":"vm2"/)
    await expect(cluster.gnt('debug', 'metad', 'echo', 'here')).resolves.toMatchObject({ stdout: 'Answer: here\n' })

    const pid = Number(fs.readFileSync(paths.pidFile('metad'), 'utf8'))
    process.kill(pid, 'SIGKILL')
    await eventually(async () => ((await ask('169.254.0.2').catch(() => '')).startsWith('200') ? true : undefined))

    await ok('instance', 'modify', '--communication', 'no', 'vm2')
    await expect(ask('169.254.0.2')).rejects.toThrow('ENOENT')
    await ok('instance', 'remove', '-f', 'vm1')
    expect(fs.readdirSync(paths.metadataDir)).toEqual([])
  } finally {
    await cluster.remove()
  }
})

function answer(socketPath: string, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get({ socketPath, path: url, agent: false }, (response) => {
      let text = `${response.statusCode} `
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(text))
    })
    request.on('error', reject)
  })
}
