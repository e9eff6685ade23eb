// `gnt-cluster maintenance` shows and sets what the maintenance daemon does.
import * as fs from 'node:fs'
import * as path from 'node:path'
import {
  MAINTENANCE,
  MAINTENANCE_DEFAULTS,
  type MaintenanceEvent,
  maintenanceInfo,
  type MaintenanceView,
} from '../../../../src/model/maintenance'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'
import { FakeMaster } from '../../../support/fake-master'
import { runCli } from '../../../support/run-cli'

const event: MaintenanceEvent = {
  ...{ id: 'e1', uuid: 'e1', node: 'u1', node_name: 'node1', original: { status: 'evacuate' }, action: 'evacuate' },
  ...{
    'repair-status': 'pending',
    jobs: [4, 5],
    tag: 'maintd:repairready:e1',
    note: null,
    ctime: 1795250000,
    mtime: 1,
  },
  serial_no: 3,
}

async function run(line: string, more: Partial<MaintenanceView> = {}) {
  const calls: unknown[][] = []
  const view: MaintenanceView = {
    ...{ settings: MAINTENANCE_DEFAULTS, events: [event], outlook: [], problems: {} },
    jobs: [{ job: 5, kind: 'move', event: 'e1', text: 'evacuating node1: moving vm1' }],
    ...more,
  }
  const gantry: Partial<GantryMaster> = {
    maintenance: async () => view,
    cancelRepair: async (_, id) => (calls.push(['cancel', id]), event),
    acknowledgeRepair: async (_, id) => (calls.push(['acknowledge', id]), 1),
    setMaintenance: async (_, settings) => (calls.push(['set', settings]), 1),
  }
  const master = Object.assign(new FakeMaster(), { gantry: gantry as GantryMaster })
  master.queryJobs = async (_, fields) => [fields.map((field) => (field === 'status' ? 'success' : []))]
  return { calls, ...(await runCli(master, ['gnt', 'cluster', ...line.split(' ')])) }
}

test('settings are shown, and set by their names', async () => {
  expect((await run('maintenance settings')).stdout).toContain('round_delay: 300\nbalance: no\n')
  const { exit, calls } = await run(
    'maintenance settings evacuation=yes round_delay=60 balance_threshold=0.5 diagnose_command=check',
  )
  expect(exit).toBe(0)
  expect(calls).toEqual([
    ['set', { evacuation: true, round_delay: 60, balance_threshold: 0.5, diagnose_command: 'check' }],
  ])
})

test.each([
  ['settings evacuation', "'evacuation' is no setting"],
  ['settings nosuch=1', "'nosuch=1' is no setting"],
  ['settings evacuation=perhaps', 'evacuation is yes or no'],
  ['settings round_delay=soon', 'round_delay is a number'],
  ['cancel', 'Name the event by its id'],
  ['status e1', "'status' takes no 'e1'"],
  ['look', "Command 'look' is not valid"],
])('maintenance %s is refused', async (words, why) => {
  const { exit, stderr, calls } = await run(`maintenance ${words}`)
  expect(exit).not.toBe(0)
  expect(stderr).toContain(why)
  expect(calls).toEqual([])
})

test('status tells what may be done, what is done, and whose reports cannot be used', async () => {
  const { stdout } = await run('maintenance status', { problems: { node2: 'its report is forged' } })
  expect(stdout).toContain('Maintenance may do: restart')
  expect(stdout).toContain('node1: evacuate, pending')
  expect(stdout).toContain('5: evacuating node1: moving vm1')
  expect(stdout).toContain('Problem: node2: its report is forged')
})

test('events are listed, and told as data', async () => {
  expect((await run('maintenance events')).stdout).toMatch(/^e1 +node1 +evacuate +pending +4,5 /m)
  expect(JSON.parse((await run('maintenance --json events')).stdout)).toEqual([event])
})

test('remove-repair cancels what goes on, and acknowledges what has ended', async () => {
  expect((await run('remove-repair e1')).calls).toEqual([['cancel', 'e1']])
  const ended = { events: [{ ...event, 'repair-status': 'failed' as const }] }
  expect((await run('remove-repair e1', ended)).calls).toEqual([['acknowledge', 'e1']])
  expect((await run('remove-repair e2')).stderr).toContain('There is no event e2')
})

test('gnt cluster info shows the settings by the names of their parameters, where the master has them', async () => {
  const info = JSON.parse(
    fs.readFileSync(path.join(__dirname, '../../../golden/cli/cluster-info.json'), 'utf8'),
  ) as object
  const displayed = async (gantry: Partial<GantryMaster> | undefined) => {
    const master = Object.assign(new FakeMaster(), { gantry: gantry as GantryMaster | undefined })
    master.clusterInfo = { ...info }
    return (await runCli(master, ['gnt', 'cluster', 'info'])).stdout
  }
  const maintained = maintenanceInfo({ sections: { [MAINTENANCE.settings]: { balance: true, round_delay: 60 } } })
  const text = await displayed({ cluster: async () => ({ ...info, ...maintained }) })
  expect(text).toMatch(/^Maintenance: *\n(  .*\n)*  maint_balance: True$/m)
  for (const line of [
    'maint_round_delay: 60',
    'maint_balance_threshold: 0.1',
    'diagnose_data_collector_filename: (none)',
  ])
    expect(text).toContain(`  ${line}\n`)
  expect(await displayed(undefined)).not.toContain('maint_')
})
