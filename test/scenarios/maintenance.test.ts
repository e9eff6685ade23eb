// A node says that it is ill, and the cluster looks after it: real processes, real virtual machines, and what goes wrong in between.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import * as net from 'node:net'
import * as path from 'node:path'
import { administrator } from '../../src/cli/administrator'
import { systemClock } from '../../src/lib/clock'
import type { MaintenanceEvent, MaintenanceView } from '../../src/model/maintenance'
import { LuxiClient } from '../../src/rpc/luxi/client'
import type { Master } from '../../src/rpc/luxi/master'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { qemuPresent, qemuTest } from '../support/needs'

const NODES = 5
let cluster: EmbeddedCluster

beforeAll(async () => {
  if (!qemuPresent) return
  cluster = await startCluster(['--nodes', String(NODES), '--hypervisor', 'kvm'])
  for (let n = 1; n <= NODES; n++) {
    script(n, 'node-diagnose-commands/check', `cat ${verdictOf(n)}`)
    says(n, { status: 'Ok' })
  }
  await ok('cluster modify --data-collector-interval diagnose=1')
  await ok('cluster modify --diagnose-data-collector-filename=check --maintenance-interval=1')
  await ok('cluster maintenance settings evacuation=yes live_repair=yes')
})
afterAll(() => (qemuPresent ? cluster.remove() : undefined))

qemuTest(
  'a node that asks to be evacuated is drained, its guests leave alive, it goes offline, and is tagged',
  async () => {
    for (const name of ['vm1', 'vm2'])
      await ok(`instance add -t sharedfile --disk 0:size=16m -o gantry-tiny -B memory=32m -n node3 ${name}`)
    const before = await ticks('vm1')
    says(3, { status: 'evacuate', details: { disk: 'sda' } })
    const done = await reaches('node3', 'completed')
    expect(await ok('node list --no-headers -o name,role,pinst_cnt node3')).toMatch(/node3\.gantry\.local O\s+0$/m)
    expect(await ok('node list --no-headers -o tags node3')).toContain(`maintd:repairready:${done.id}`)
    await settles(async () => expect(await statuses()).toEqual({ vm1: 'running', vm2: 'running' }))
    const after = await ticks('vm1')
    expect(after).toBeGreaterThanOrEqual(before)
    expect(done.jobs.length).toBeGreaterThanOrEqual(4)
    const [row] = await cluster.master.queryJobs([done.jobs[0] ?? 0], ['ops'])
    expect(JSON.stringify(row)).toContain(`event ${done.id}`)
    expect(JSON.stringify(row)).toContain('gnt:daemon:maintd')

    // The nodes that took them over know why.
    for (const name of ['vm1', 'vm2']) {
      const [, n = ''] = /^node(\d)/.exec(String(await primaryOf(name))) ?? []
      const address = cluster.address.replace(/\d+$/, n)
      await settles(async () => {
        const report = await (await fetch(`http://${address}:1815/1/report/instance/inst-status`)).json()
        const { instances } = (report as { data: { instances: { name: string; state_reason: unknown }[] } }).data
        const reason = JSON.stringify(instances.find((one) => one.name === name)?.state_reason)
        expect(reason).toContain(`event ${done.id}`)
        expect(reason).toContain('gnt:daemon:noded:migrate')
      })
    }

    // Back without a repair, it has the same event: only the tag goes, and the event stays.
    await ok('node modify --offline=no --force node3')
    await ok(`cluster maintenance acknowledge ${done.id}`)
    expect(await ok('node list --no-headers -o tags node3')).not.toContain('maintd:')
    expect((await events()).map(({ id }) => id)).toEqual([done.id])
    says(3, { status: 'Ok' })
    await settles(async () => expect(await events()).toEqual([]))
  },
)

qemuTest('a repair command that fails ends the event; its tag removed begins it anew', async () => {
  script(2, 'node-repair-commands/mend', 'cat > "$0.input"; exit 1')
  says(2, { status: 'live-repair', command: 'mend', details: 'a fan' })
  const failed = await reaches('node2', 'failed')
  await settles(async () => expect(await tagsOf('node2')).toContain(`maintd:repairfailed:${failed.id}`))
  expect(JSON.parse(fs.readFileSync(etc(2, 'node-repair-commands/mend.input'), 'utf8'))).toEqual({
    ...{ status: 'live-repair', command: 'mend', details: 'a fan' },
  })
  script(2, 'node-repair-commands/mend', 'exit 0')
  await settles(async () => expect((await ok(`cluster remove-repair ${failed.id}`)).length).toBeGreaterThan(0))
  const again = await reaches('node2', 'completed')
  expect(again.id).not.toBe(failed.id)
  says(2, { status: 'Ok' })
  await ok(`cluster maintenance acknowledge ${again.id}`)
  await settles(async () => expect(await events()).toEqual([]))
})

qemuTest('a canceled event gets no more jobs, and is forgotten when it is no longer observed', async () => {
  await ok('cluster maintenance settings evacuation=no')
  says(4, { status: 'evacuate-failover', details: 1 })
  const noted = await reaches('node4', 'noted')
  await settles(async () => expect((await events())[0]?.note).toContain('evacuation is off'))
  const url = `https://${cluster.address}:1816`
  expect((await ask(`${url}/1/events/${noted.id}/cancel`, 'POST')).status).toBe(401)
  const canceled = await ask(`${url}/1/events/${noted.id}/cancel`, 'POST', `admin:${cluster.password}`)
  expect(canceled).toMatchObject({ status: 200, body: { id: noted.id, 'repair-status': 'canceled' } })
  await ok('cluster maintenance settings evacuation=yes')
  // Each daemon follows what others have written, a moment later.
  await settles(async () =>
    expect((await ask(`${url}/1/status`, 'GET')).body).toMatchObject([{ uuid: noted.id, 'repair-status': 'canceled' }]),
  )
  await settles(async () => {
    const reported = await cluster.rapi('GET', '/3/maintenance')
    expect(reported.body).toMatchObject({ settings: { evacuation: true }, events: [{ id: noted.id, jobs: [] }] })
  })
  expect(await ok('node list --no-headers -o role node4')).not.toContain('D')
  says(4, { status: 'Ok' })
  await settles(async () => expect(await events()).toEqual([]))
})

qemuTest('a report that is forged moves nothing, and is named', async () => {
  const mond = pidOf('mond', 5)
  process.kill(pidOf('node', 5), 'SIGSTOP')
  process.kill(mond, 'SIGKILL')
  const address = cluster.address.replace(/\d+$/, '5')
  const forged = { name: 'diagnose', data: { status: 'evacuate' }, signed: { msg: '{}', salt: '1', hmac: 'x' } }
  const forger = http.createServer((_, response) => response.end(JSON.stringify(forged)))
  await settles(
    () => new Promise<void>((resolve, reject) => forger.once('error', reject).listen(1815, address, resolve)),
  )
  try {
    await settles(async () => expect(JSON.stringify((await view()).problems)).toMatch(/node5.*forged/))
    expect(await ok('cluster maintenance status')).toMatch(/Problem: node5.*forged/)
    expect(await events()).toEqual([])
  } finally {
    forger.closeAllConnections()
    await new Promise((resolve) => forger.close(resolve))
    process.kill(pidOf('node', 5), 'SIGCONT')
  }
})

qemuTest('a program that must not be started says nothing of the node, which is named', async () => {
  const file = etc(4, 'node-diagnose-commands/check')
  fs.chmodSync(file, 0o777)
  await settles(async () =>
    expect(await ok('cluster maintenance status')).toMatch(/^Problem: node4.*does not run \(not-run\).*mode 0755$/m),
  )
  expect(await events()).toEqual([])
  const { stdout } = await cluster.gnt('cluster', 'verify')
  expect(stdout).toMatch(/WARNING: node node4\.gantry\.local: a fault of the node would not be seen: .*not-run/)
  fs.chmodSync(file, 0o755)
  await settles(async () => expect(await ok('cluster maintenance status')).not.toContain('Problem: node4'))
})

qemuTest('maintd that is killed in the middle goes on where it was', async () => {
  script(2, 'node-repair-commands/slow', 'echo x >> "$0.runs"; sleep 5')
  says(2, { status: 'live-repair', command: 'slow' })
  await settles(() => expect(fs.existsSync(etc(2, 'node-repair-commands/slow.runs'))).toBe(true), 60)
  process.kill(pidOf('maintd', 1), 'SIGKILL')
  const done = await reaches('node2', 'completed')
  expect(fs.readFileSync(etc(2, 'node-repair-commands/slow.runs'), 'utf8')).toBe('x\n')
  says(2, { status: 'Ok' })
  await ok(`cluster maintenance acknowledge ${done.id}`)
  await settles(async () => expect(await events()).toEqual([]))
})

qemuTest('guests that are not spread evenly move, alive, to where there is more room', async () => {
  for (const name of ['vm1', 'vm2'])
    if ((await primaryOf(name)) !== 'node4.gantry.local') await ok(`instance migrate -f -n node4 ${name}`)
  const before = { vm1: await ticks('vm1'), vm2: await ticks('vm2') }
  await ok('cluster maintenance settings balance=yes balance_threshold=0.001')
  const homes = await settles(async () => {
    const both = [await primaryOf('vm1'), await primaryOf('vm2')]
    expect(new Set(both).size).toBe(2)
    return both
  }, 120)
  // Nothing moves where all is even already.
  await settles(async () => expect(await roundJobs()).toEqual([]))
  await ok('cluster maintenance settings balance=no')
  expect([await primaryOf('vm1'), await primaryOf('vm2')]).toEqual(homes)
  expect(await ok('instance list --no-headers -o status vm1 vm2')).toBe('running\nrunning\n')
  expect(await ticks('vm1')).toBeGreaterThanOrEqual(before.vm1)
  expect(await ticks('vm2')).toBeGreaterThanOrEqual(before.vm2)
  const moves = (await cluster.master.query('job', ['ops', 'status'], null)).data
    .map((row) => JSON.stringify(row))
    .filter((text) => text.includes('balancing default: moving vm'))
  expect(moves).toHaveLength(1)
  expect(moves[0]).toMatch(/gnt:daemon:maintd.*from node4\.gantry\.local.*OP_INSTANCE_MIGRATE.*"success"/)
})

qemuTest(
  'a job that a master failover cuts off is not begun again by the new master; once acknowledged, all is',
  async () => {
    if ((await primaryOf('vm1')) !== 'node3.gantry.local') await ok('instance migrate -f -n node3 vm1')
    const before = await ticks('vm1')
    // The migration waits here until its job is gone, so it is known how far it came.
    const gate = 'hooks/instance-migrate-pre.d/gate'
    script(3, gate, 'touch "$0.reached"; while [ -e "$0" ]; do sleep 0.1; done')
    says(3, { status: 'evacuate', details: 'again' })
    await settles(() => expect(fs.existsSync(etc(3, `${gate}.reached`))).toBe(true), 120)
    const [{ id }] = (await events()) as [MaintenanceEvent]
    expect(JSON.parse(await ok('cluster maintenance --json events'))).toMatchObject([{ id }])
    expect(await cluster.gnt('--node', 'node2', 'cluster', 'master-failover')).toMatchObject({ code: 0 })
    fs.rmSync(etc(3, gate))
    const master = new LuxiClient({ clock: systemClock, path: cluster.socket.replace('/node1.', '/node2.') })
    const cut = await settles(async () => {
      const event = (await events(master)).find((one) => one.id === id)
      expect(event?.['repair-status']).toBe('failed')
      return event
    }, 120)
    await settles(async () => expect(await tagsOf('node3', master)).toContain(cut?.tag), 60)
    // Nothing was moved, and its guest has not noticed.
    expect(await ok('--node node2 instance list --no-headers -o pnode,status vm1')).toMatch(/^node3\.\S+ +running$/m)
    expect(await ticks('vm1', '--node node2 ')).toBeGreaterThanOrEqual(before)

    await ok(`--node node2 cluster maintenance acknowledge ${id}`)
    await settles(async () => {
      const [event] = (await events(master)).filter((one) => one.node_name === 'node3.gantry.local' && one.id !== id)
      expect(event?.['repair-status']).toBe('completed')
    }, 120)
    master.close()
    expect(await ok('--node node2 instance list --no-headers -o status vm1')).toBe('running\n')
    expect(await ok('--node node2 node list --no-headers -o pinst_cnt node3')).toBe('0\n')
    expect(await ticks('vm1', '--node node2 ')).toBeGreaterThanOrEqual(before)
  },
)

qemuTest('a master is evacuated too, mirrors as well; it is drained when another node has its role', async () => {
  const on2 = (words: string) => ok(`--node node2 ${words}`)
  await on2('instance add -t drbd --disk 0:size=4m -o gantry-tiny -B memory=32m -n node2:node5 m1')
  const master = new LuxiClient({ clock: systemClock, path: cluster.socket.replace('/node1.', '/node2.') })
  says(2, { status: 'evacuate', details: 'the master' })
  const mine = async (from: Master) => (await events(from)).find(({ node_name: name }) => name === 'node2.gantry.local')
  await settles(async () => {
    const event = await mine(master)
    expect(event?.note).toMatch(/^it is empty; this node is the master: its role must move/)
    expect(event?.['repair-status']).toBe('pending')
  }, 120)
  expect(await on2('node list --no-headers -o pinst_cnt,sinst_cnt,vm_capable,role node2')).toMatch(/^0 +0 +N +M$/m)
  expect(await on2('instance list --no-headers -o status m1')).toBe('running\n')
  master.close()
  expect(await cluster.gnt('--node', 'node4', 'cluster', 'master-failover')).toMatchObject({ code: 0 })
  const next = new LuxiClient({ clock: systemClock, path: cluster.socket.replace('/node1.', '/node4.') })
  await settles(async () => expect((await mine(next))?.['repair-status']).toBe('completed'), 120)
  expect(await ok('--node node4 node list --no-headers -o vm_capable,role node2')).toMatch(/^Y +O$/m)
  next.close()
})

const etc = (n: number, file: string): string => path.join(cluster.root, `node${n}.gantry.local/etc/ganeti`, file)
const verdictOf = (n: number): string => path.join(cluster.root, `verdict-${n}`)
const says = (n: number, verdict: object): void => fs.writeFileSync(verdictOf(n), JSON.stringify(verdict))

function script(n: number, file: string, body: string): void {
  fs.mkdirSync(path.dirname(etc(n, file)), { recursive: true, mode: 0o755 })
  fs.writeFileSync(etc(n, file), `#!/bin/sh\n${body}\n`)
  fs.chmodSync(etc(n, file), 0o755)
}

async function ok(line: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.gnt(...line.split(' '))
  if (code !== 0) throw new Error(`gnt ${line}: ${stderr}`)
  return stdout + stderr
}

// These look again and again, so they ask the master from here: a program for each look would take most of the time.

async function view(master: Master = cluster.master): Promise<MaintenanceView> {
  if (master.gantry === undefined) throw new Error('it is no master of ours')
  return master.gantry.maintenance(administrator('root'))
}

const events = async (master?: Master): Promise<readonly MaintenanceEvent[]> => (await view(master)).events

async function tagsOf(node: string, master: Master = cluster.master): Promise<unknown> {
  const { data } = await master.query('node', ['tags'], ['==', 'name', `${node}.gantry.local`])
  return data[0]?.[0]?.[1]
}

async function statuses(): Promise<unknown> {
  const { data } = await cluster.master.query('instance', ['name', 'status'], null)
  return Object.fromEntries(data.map((row) => row.map(([, value]) => value)) as [string, unknown][])
}

const roundJobs = async (): Promise<unknown> => (await ask(`https://${cluster.address}:1816/1/jobs`, 'GET')).body

async function primaryOf(name: string): Promise<unknown> {
  const { data } = await cluster.master.query('instance', ['pnode'], ['==', 'name', name])
  return data[0]?.[0]?.[1]
}

function reaches(node: string, status: string): Promise<MaintenanceEvent> {
  return settles(async () => {
    const all = await events()
    const event = all.find((one) => one.node_name === `${node}.gantry.local` && one['repair-status'] === status)
    if (event === undefined) throw new Error(`no event of ${node} is ${status}: ${JSON.stringify(all)}`)
    return event
  }, 120)
}

function pidOf(role: string, n: number): number {
  const name = `ganeti-${role} node${n}.gantry.local`
  for (const pid of fs.readdirSync('/proc').filter((one) => /^\d+$/.test(one)))
    try {
      const own = fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`GANETI_ROOTDIR=${cluster.root}/node${n}.`)
      if (own && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(name)) return Number(pid)
    } catch {
      // It ended meanwhile.
    }
  throw new Error(`${name} does not run: ${execFileSync('ps', ['ax']).toString()}`)
}

function ask(url: string, method: string, auth?: string): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const options = { method, rejectUnauthorized: false, ...(auth !== undefined && { auth }) }
    const request = https.request(url, options, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }))
    })
    request.on('error', reject).end()
  })
}

/** The guest counts seconds on its serial console from its boot on. */
async function ticks(name: string, where = ''): Promise<number> {
  const [console = ''] = /\/\S+\.serial/.exec(await ok(`${where}instance console --show-cmd ${name}`)) ?? []
  const socket = net.connect(console)
  try {
    return await new Promise<number>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`the console of ${name} said nothing`)), 60_000)
      let text = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        const [, ticked] = /T(\d{4})/.exec(text) ?? []
        if (ticked === undefined) return
        clearTimeout(limit)
        resolve(Number(ticked))
      })
      socket.on('error', reject)
    })
  } finally {
    socket.destroy()
  }
}

/** Looks again and again until nothing is thrown. */
async function settles<T>(look: () => T | Promise<T>, limit_s = 60): Promise<T> {
  const deadline = Date.now() + limit_s * 1000
  for (;;)
    try {
      return await look()
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
}
