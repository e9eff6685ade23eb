// The console's pages of nodes, groups, networks, jobs and everything else that is no instance: what is done there, who may not do it, and
// that what others have written is shown as text.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { browserPresent, browserTest, launchBrowser, newPage } from '../support/browser'
import { ConsolePage } from '../support/console-page'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

let cluster: EmbeddedCluster
let browser: Browser
let context: BrowserContext
let page: Page
let ui: ConsolePage
let complaints: string[]

const MARKUP = '<img src=x onerror="document.title=1"><b>bold</b>'

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'fake'])
  for (const n of [1, 2, 3]) {
    script(n, 'node-diagnose-commands/check', `cat ${verdictOf(n)}`)
    script(n, 'node-repair-commands/mend', 'exit 0')
    fs.writeFileSync(verdictOf(n), '{"status": "Ok"}')
  }
  await ok('cluster', 'modify', '--data-collector-interval', 'diagnose=1')
  await ok('cluster', 'modify', '--diagnose-data-collector-filename=check', '--maintenance-interval=1')
  await ok('cluster', 'maintenance', 'settings', 'live_repair=yes')
  for (const n of [1, 2, 3]) hostileSystem(n)
  await ok('network', 'add', '--network=10.9.0.0/24', '--gateway=10.9.0.1', 'net1')
  await ok('network', 'add', '--network=10.20.0.0/16', 'big')
  await ok('network', 'connect', '-N', 'mode=bridged,link=br0', 'net1', 'default')
  await instance('vm1', { nics: [{ network: 'net1', ip: 'pool' }], tags: ['shop'] })
  browser = await launchBrowser()
  await signedIn((first) => first.signIn('admin', cluster.password))
})

afterAll(async () => {
  if (!browserPresent) return
  await browser?.close()
  await cluster?.remove()
})

/** Another browser, so to say, of whoever signs in. */
async function signedIn(how: (first: ConsolePage) => Promise<void>): Promise<void> {
  await context?.close()
  ;({ context, page, complaints } = await newPage(browser))
  ui = new ConsolePage(cluster, page)
  await ui.open('/')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await how(ui)
  await page.getByText('Live', { exact: true }).waitFor()
}

async function instance(name: string, more: object): Promise<void> {
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: name, mode: 'create', disk_template: 'sharedfile' },
    ...{ disks: [{ size: 16 }], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: true },
    ...{ pnode: 'node2.gantry.local', ...more },
  })
  expect(made).toMatchObject({ status: 'success' })
}

async function ok(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.gnt(...words)
  if (code !== 0) throw new Error(`gnt ${words.join(' ')}: ${stderr}`)
  return stdout
}

const rootOf = (n: number): string => path.join(cluster.root, `node${n}.gantry.local`)
const verdictOf = (n: number): string => path.join(cluster.root, `verdict-${n}.json`)

function script(n: number, file: string, body: string): void {
  const whole = path.join(rootOf(n), 'etc/ganeti', file)
  fs.mkdirSync(path.dirname(whole), { recursive: true, mode: 0o755 })
  fs.writeFileSync(whole, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
}

/** An operating system whose texts are markup, and whose scripts say it. */
function hostileSystem(n: number): void {
  const folder = path.join(rootOf(n), 'srv/ganeti/os/hostile')
  fs.cpSync(path.join(__dirname, '../../os/gantry-tiny'), folder, { recursive: true })
  fs.writeFileSync(path.join(folder, 'parameters.list'), `banner ${MARKUP}\n`)
  fs.writeFileSync(path.join(folder, 'create'), `#!/bin/sh\necho '${MARKUP}'\nexit 1\n`, { mode: 0o755 })
}

const group = (name: string) => page.getByRole('group', { name, exact: true })
const row = (text: string | RegExp) => page.getByRole('row').filter({ hasText: text })

browserTest('a node tells what it has, and its monitoring daemon and storage units are asked', async () => {
  await ui.open('/nodes/node2.gantry.local')
  await ui.heading('node2.gantry.local')
  await page.getByRole('link', { name: 'vm1', exact: true }).waitFor()
  await group('Storage units').getByText('sharedfile').first().waitFor()
  await group('Monitoring').getByText('inst-status', { exact: true }).waitFor()
  await group('Network interfaces').getByText('lo', { exact: true }).waitFor()
  await ui.look('node')
  const unit = group('Storage units').getByRole('row').filter({ hasText: 'lvm-pv' })
  await unit.getByText('allowed', { exact: true }).waitFor()
  for (const [label, state] of [
    ['Allow no new volumes', 'not allowed'],
    ['Allow new volumes', 'allowed'],
  ] as const) {
    await unit.getByRole('button', { name: label }).click()
    await page.getByRole('dialog').getByRole('button', { name: label }).click()
    await unit.getByText(state, { exact: true }).waitFor()
  }
})

browserTest('a node is tagged and drained, its page follows, and it is evacuated', async () => {
  await ui.act('Add tags', async (dialog) => {
    await dialog.getByRole('combobox', { name: 'Tags' }).fill('rack:1')
    await page.keyboard.press('Enter')
  })
  await page.getByRole('link', { name: 'rack:1' }).waitFor()
  await ui.act('Drain')
  await page.getByText('Drained').first().waitFor()
  await ui.act('Evacuate', async (dialog) => {
    await dialog.getByRole('combobox', { name: 'Instances' }).click()
    await page.getByRole('option', { name: /^Primary:/ }).click()
    expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
      'gnt node evacuate --force --primary-only node2.gantry.local',
    )
    await ui.look('evacuate')
  })
  await page.getByRole('link', { name: 'vm1', exact: true }).waitFor({ state: 'detached' })
  await ui.act('Undrain')
})

/** Does what a button beside an object says. */
async function at(button: string, label: string, change: (dialog: Locator) => Promise<void> = async () => {}) {
  await page.getByRole('button', { name: button, exact: true }).click()
  const dialog = page.getByRole('dialog')
  await change(dialog)
  await dialog.getByRole('button', { name: label, exact: true }).click()
  await ui.jobDone(label)
}

browserTest('a disk is added, grows and is removed, and the instance reboots and moves', async () => {
  await instance('data1', { disk_template: 'plain', no_install: true, start: false })
  await ui.open('/instances/data1')
  const disks = page.getByRole('table', { name: 'Disks' })
  await ui.act('Add disk', (dialog) => dialog.getByRole('textbox', { name: 'Size' }).fill('8m'))
  await disks.getByRole('cell', { name: '8 MiB' }).waitFor()
  await at('Grow disk 1', 'Grow', (dialog) => dialog.getByLabel('New size').fill('12m'))
  await disks.getByRole('cell', { name: '12 MiB' }).waitFor()
  await at('Remove disk 1', 'Remove disk', (dialog) => dialog.getByLabel('Type data1 to confirm').fill('data1'))
  await disks.getByRole('cell', { name: '12 MiB' }).waitFor({ state: 'detached' })
  await ui.act('Start')
  await ui.act('Reboot')
  await ui.act('Move', (dialog) => dialog.getByLabel('Target node').fill('node3.gantry.local'))
  await page.getByRole('link', { name: 'node3.gantry.local' }).first().waitFor()
  expect(await reported('/3/instances/data1', 'status')).toBe('running')
  await ui.act('Remove', (dialog) => dialog.getByRole('textbox', { name: 'Type data1 to confirm' }).fill('data1'))
})

browserTest('a node is set offline and online again, and its helper is asked for its power', async () => {
  const requested = path.join(cluster.root, 'asked')
  script(1, 'power-helper', `echo "$@" >> ${requested}\necho '{"powered": true}'`)
  await ok('node', 'modify', '--node-parameters=oob_program=/etc/ganeti/power-helper', 'node3.gantry.local')
  await ui.open('/nodes/node3.gantry.local')
  await ui.act('Show power state')
  expect(fs.readFileSync(requested, 'utf8')).toBe('power-status node3.gantry.local\n')
  await ui.act('Set offline')
  await page.getByText('Offline', { exact: true }).first().waitFor()
  await ui.look('node-offline')
  await ui.act('Set online')
  await page.getByText('Offline', { exact: true }).first().waitFor({ state: 'detached' })
})

browserTest('what the server refuses of a change is told in the dialog, which keeps what was typed', async () => {
  await ui.open('/nodes/node2.gantry.local')
  await ui.choose('Modify')
  const dialog = page.getByRole('dialog')
  const address = dialog.getByRole('textbox', { name: 'Secondary address' })
  await address.fill('nowhere')
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('This is not possible now.').waitFor()
  expect(await address.inputValue()).toBe('nowhere')
  expect(await dialog.getByRole('button', { name: 'Modify', exact: true }).isDisabled()).toBe(true)
  await page.keyboard.press('Escape')
  await ui.choose('Modify')
  await address.fill('nowhere')
  await dialog.getByRole('button', { name: 'Modify', exact: true }).click()
  await page.getByRole('button', { name: 'Try again with the same input' }).click()
  expect(await address.inputValue()).toBe('nowhere')
  await page.keyboard.press('Escape')
})

browserTest('nodes are filtered by role, and the address keeps it', async () => {
  await ui.open('/nodes?role=M')
  await page.getByRole('link', { name: 'node1.gantry.local' }).waitFor()
  expect(await page.getByRole('link', { name: 'node3.gantry.local' }).count()).toBe(0)
  await ui.look('nodes')
})

browserTest('a repair event is cancelled, and another one acknowledged', async () => {
  await ok('cluster', 'maintenance', 'settings', 'evacuation=no')
  await ui.open('/maintenance')
  await page.getByText('No node has reported a fault.').waitFor()
  fs.writeFileSync(verdictOf(3), JSON.stringify({ status: 'evacuate', details: MARKUP }))
  await row('node3.gantry.local').getByText('Noted').waitFor()
  await row('node3.gantry.local').getByRole('button', { name: 'Cancel repair' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel repair' }).click()
  await row('node3.gantry.local').getByText('Cancelled').waitFor()
  fs.writeFileSync(verdictOf(2), JSON.stringify({ status: 'live-repair', command: 'mend' }))
  await row('node2.gantry.local').getByText('Done').waitFor()
  await row('node3.gantry.local').getByText('Evacuate', { exact: true }).click()
  await page.getByText(JSON.stringify(MARKUP).slice(1, -1)).waitFor()
  await ui.look('maintenance')
  fs.writeFileSync(verdictOf(2), '{"status": "Ok"}')
  fs.writeFileSync(verdictOf(3), '{"status": "Ok"}')
  const acknowledge = row('node2.gantry.local').getByRole('button', { name: 'Acknowledge' })
  await acknowledge.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
  await ui.jobDone('Acknowledge')
  await page.getByText('No node has reported a fault.').waitFor()
})

browserTest('the watcher is paused and goes on, and settings of maintenance are changed', async () => {
  await ui.actAtOnce('Pause the watcher')
  await page.getByText(/^Paused until /).waitFor()
  await ui.actAtOnce('Resume')
  await page.getByText('Active', { exact: true }).waitFor()
  await ui.act('Change settings', (dialog) =>
    dialog.getByRole('switch', { name: 'Dry run: only show planned actions' }).click(),
  )
  await page.getByRole('definition').filter({ hasText: /^On$/ }).nth(1).waitFor()
})

browserTest('a group is made, changed and removed with its name typed; another one tells how much fits', async () => {
  await ui.open('/groups')
  await ui.act('Add group', (dialog) => dialog.getByRole('textbox', { name: 'Name' }).fill('spare'))
  await page.getByRole('link', { name: 'spare' }).click()
  await ui.heading('spare')
  await ui.act('Modify', async (dialog) => {
    await dialog.getByRole('combobox', { name: 'Allocation' }).click()
    await page.getByRole('option', { name: /^Unallocable/ }).click()
  })
  await page.getByText(/^Unallocable\./).waitFor()
  await ui.act('Assign nodes', async (dialog) => {
    await dialog.getByRole('combobox', { name: 'Nodes' }).fill('node3.gantry.local')
    await page.keyboard.press('Enter')
  })
  await page.getByRole('link', { name: 'node3.gantry.local' }).waitFor()
  await ui.open('/groups/default')
  await ui.act('Assign nodes', async (dialog) => {
    await dialog.getByRole('combobox', { name: 'Nodes' }).fill('node3.gantry.local')
    await page.keyboard.press('Enter')
  })
  await page.getByRole('button', { name: 'How many fit?' }).click()
  await page.getByText(/^\d+ more fits?\.$/).waitFor()
  await ui.look('group')
  await ui.open('/groups/spare')
  await ui.act('Remove', (dialog) => dialog.getByRole('textbox', { name: 'Type spare to confirm' }).fill('spare'))
  await ui.open('/groups')
  await page.getByText('1 group').waitFor()
  await ui.look('groups')
})

browserTest(
  'a network shows whose its addresses are, and reserves one; a large one is looked into by ranges',
  async () => {
    await ui.open('/networks')
    await page.getByRole('link', { name: 'net1' }).click()
    await page.getByRole('img', { name: '10.9.0.2: Used by an instance, vm1' }).waitFor()
    await page.getByRole('img', { name: '10.9.0.1: Gateway' }).waitFor()
    await page.getByRole('img', { name: '10.9.0.7: Free' }).waitFor()
    await ui.act('Modify', async (dialog) => {
      await dialog.getByRole('combobox', { name: 'Addresses to reserve' }).fill('10.9.0.7')
      await page.keyboard.press('Enter')
    })
    await page.getByRole('img', { name: '10.9.0.7: Reserved manually' }).waitFor()
    await ui.look('network')
    await ui.open('/networks/big')
    await page.getByRole('button', { name: '10.20.255.0 – 10.20.255.255: 1 of 256 in use' }).click()
    await page.getByRole('img', { name: '10.20.255.255: Broadcast address' }).waitFor()
    await page.getByRole('button', { name: 'All addresses' }).click()
    await ui.look('network-large')
    await ui.open('/networks')
    await page.getByRole('link', { name: 'big' }).waitFor()
    await ui.look('networks')
  },
)

browserTest('who changes a network or a node that another has changed meanwhile is shown what it was', async () => {
  const changedByOther = async (where: string, body: object, displayed: string) => {
    await ui.open(where)
    await ui.choose('Modify')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Modify', exact: true }).waitFor()
    expect(await cluster.rapi('PATCH', `/3${where}`, body)).toMatchObject({ status: 202 })
    await dialog.getByText('The object has changed').waitFor()
    await dialog.getByRole('cell', { name: displayed }).waitFor()
    await page.keyboard.press('Escape')
  }
  await changedByOther('/networks/net1', { mac_prefix: '52:54:99' }, 'mac_prefix')
  await changedByOther('/nodes/node3.gantry.local', { ndparams: { spindle_count: 4 } }, 'ndparams.spindle_count')
})

browserTest(
  'a rule of the queue holds a job, which is found, made more urgent, cancelled and archived; the rule is changed and removed',
  async () => {
    await ui.open('/rules')
    await ui.actAtOnce('Add rule', async (dialog) => {
      await dialog.getByRole('textbox', { name: 'Only jobs with this opcode' }).fill('OP_TEST_DELAY')
      await dialog.getByRole('textbox', { name: 'Reason for the rule' }).fill(MARKUP)
    })
    await page.getByText('OP_ID = OP_TEST_DELAY').or(page.getByText('OP_ID == OP_TEST_DELAY')).waitFor()
    await page.getByText(MARKUP).waitFor()
    await ui.look('rules')
    const delay = { OP_ID: 'OP_TEST_DELAY', duration: 600, on_master: true, on_nodes: [] }
    const held = await cluster.rapi('POST', '/3/jobs', { ops: [delay], reason: MARKUP })
    const { id } = held.body as { id: number }
    await ui.open('/jobs?q=test_delay&user=admin')
    await page.getByRole('link', { name: String(id), exact: true }).click()
    await ui.heading(`Job ${id}`)
    await page.getByText(MARKUP, { exact: true }).waitFor()
    await ui.actAtOnce('Change priority', (dialog) => dialog.getByRole('textbox', { name: 'Priority' }).fill('-5'))
    await page.getByText('-5', { exact: true }).waitFor()
    await ui.look('job')
    await ui.actAtOnce('Cancel job')
    await page.getByText('Cancelled', { exact: true }).first().waitFor()
    await ui.actAtOnce('Archive')
    await page.getByText(/^Archived: /).waitFor()
    await ui.open('/rules')
    await ui.actAtOnce('Change', async (dialog) => {
      await dialog.getByRole('combobox', { name: 'Action' }).click()
      await page.getByRole('option', { name: /^Accept/ }).click()
    })
    await page.getByRole('cell', { name: 'Accept' }).waitFor()
    await ui.actAtOnce('Remove')
    await page.getByText(/^There are no rules/).waitFor()
  },
)

browserTest('jobs tell for whom they wait, and the queue takes none for a while', async () => {
  const op = { OP_ID: 'OP_TEST_DELAY', duration: 600, on_master: false, on_nodes: ['node3.gantry.local'] }
  const first = (await cluster.rapi('POST', '/3/jobs', { ops: [op] })).body as { id: number }
  const again = { ...op, depends: [[first.id, ['success', 'error', 'canceled']]] }
  const second = (await cluster.rapi('POST', '/3/jobs', { ops: [again] })).body as { id: number }
  await ui.open(`/jobs/${second.id}`)
  await page
    .getByRole('link', { name: `Job ${first.id}` })
    .first()
    .waitFor()
  await ui.open('/locks')
  await page
    .getByRole('link', { name: `Job ${first.id}` })
    .first()
    .waitFor()
  await ui.look('locks')
  for (const { id } of [second, first]) await cluster.rapi('DELETE', `/3/jobs/${id}`)
  await ui.open('/jobs')
  await ui.actAtOnce('Drain the queue')
  await page.getByText('The queue is drained: it refuses new jobs').waitFor()
  await ui.actAtOnce('Undrain the queue')
  await page.getByText('The queue accepts jobs').waitFor()
  await ui.look('jobs')
})

browserTest('storage, systems, exports and tags have pages; a system is hidden', async () => {
  await ui.open('/storage')
  await page.getByRole('link', { name: 'node3.gantry.local' }).waitFor()
  await ui.look('storage')
  await ui.open('/os')
  await page.getByRole('link', { name: 'gantry-tiny' }).click()
  await ui.heading('gantry-tiny')
  await ui.act('Change settings', (dialog) =>
    dialog.getByRole('switch', { name: 'Hidden: not offered, but usable' }).click(),
  )
  await page.getByText('Hidden', { exact: true }).nth(1).waitFor()
  await ui.look('system')
  await ui.open('/os')
  await page.getByText('Hidden', { exact: true }).waitFor()
  await ui.look('systems')
  await ui.open('/exports')
  await page
    .getByText(/^There are no exports|does not tell/)
    .first()
    .waitFor()
  await ui.look('exports')
  await ui.open('/tags?q=SHOP')
  await row('shop').getByRole('link', { name: 'vm1', exact: true }).waitFor()
  await ui.look('tags')
})

browserTest('the cluster is verified, and a setting is changed with its plan', async () => {
  await ui.open('/cluster?q=candidate_pool')
  await ui.act('Verify the cluster')
  await page.getByText(/^Job \d+ found /).waitFor()
  await ui.act('Change', async (dialog) => {
    await dialog.getByRole('textbox', { name: 'candidate_pool_size' }).fill('7')
    await dialog.getByRole('button', { name: 'Show what it will do' }).click()
    await dialog.getByText('The plan found no obstacle.').waitFor()
    await ui.look('setting')
  })
  await row('candidate_pool_size').getByText('7', { exact: true }).waitFor()
  await ui.look('cluster')
})

browserTest('a text among the settings is emptied, and parameters of a dictionary are changed one by one', async () => {
  const known = async () => (await cluster.rapi('GET', '/3/cluster')).body as Readonly<Record<string, unknown>>
  await ui.open('/cluster?q=diagnose_data_collector_filename')
  await ui.act('Change', (dialog) => dialog.getByRole('textbox', { name: 'diagnose_data_collector_filename' }).fill(''))
  expect(await known()).toMatchObject({ diagnose_data_collector_filename: '' })
  await ui.open('/cluster?q=ndparams')
  await ui.act('Change', (dialog) => dialog.getByRole('textbox', { name: 'spindle_count' }).fill('3'))
  expect(await known()).toMatchObject({ ndparams: { spindle_count: 3, ssh_port: 22 } })
  await ui.open('/nodes/node2.gantry.local')
  await ui.act('Modify', async (dialog) => {
    const spindles = dialog.getByRole('textbox', { name: 'spindle_count' })
    expect(await spindles.getAttribute('placeholder')).toBe('3')
    await spindles.fill('5')
  })
  const { body } = await cluster.rapi('GET', '/3/nodes/node2.gantry.local?fields=custom_ndparams')
  expect(body).toMatchObject({ custom_ndparams: { spindle_count: 5 } })
})

const reported = async (address: string, field: string) =>
  ((await cluster.rapi('GET', address)).body as Readonly<Record<string, unknown>>)[field]

browserTest('the sizes of instances keep their ranges, at the cluster and in a group', async () => {
  const range = (most: string) =>
    `min:memory-size=16m,cpu-count=1,disk-count=0,disk-size=0,nic-count=0,spindle-use=1/max:memory-size=${most},cpu-count=8,disk-count=16,disk-size=1t,nic-count=8,spindle-use=12`
  await ok('cluster', 'modify', `--ipolicy-bounds-specs=${range('4g')}//${range('8g')}`)
  await ui.open('/cluster?q=ipolicy')
  await ui.act('Change', async (dialog) => {
    const second = dialog.getByRole('group', { name: 'Range 2', exact: true })
    await second.getByRole('textbox', { name: 'Memory: maximum' }).fill('1m')
    await dialog.getByText('Range 2, maximum: Memory: must not be less than the minimum').waitFor()
    await ui.look('policy-wrong')
    await second.getByRole('textbox', { name: 'Memory: maximum' }).fill('16g')
    await dialog.getByRole('textbox', { name: 'Maximum vCPUs per CPU' }).fill('5.5')
    const standard = dialog.getByRole('group', { name: 'Standard size' })
    await standard.getByRole('textbox', { name: 'Memory' }).fill('64m')
    await ui.look('policy')
  })
  const most = (memory: number) => ({ max: { 'memory-size': memory, 'cpu-count': 8 }, min: { 'memory-size': 16 } })
  expect(await reported('/3/cluster', 'ipolicy')).toMatchObject({
    ...{ minmax: [most(4096), most(16384)], std: { 'memory-size': 64 }, 'vcpu-ratio': 5.5 },
  })
  await ui.open('/groups/default')
  await ui.act('Modify', async (dialog) => {
    await dialog.getByRole('button', { name: 'Add to Range' }).click()
    await dialog.getByRole('textbox', { name: 'Memory: maximum' }).fill('2g')
    const drbd = dialog.getByRole('group', { name: 'Disks: drbd' })
    expect(await drbd.getByRole('textbox', { name: 'metavg' }).getAttribute('placeholder')).toBe('xenvg')
    await drbd.getByRole('textbox', { name: 'metavg' }).fill('fast')
    await ui.look('group-parameters')
    expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toMatch(
      /^gnt group modify --disk-parameters=drbd:metavg=fast --ipolicy-bounds-specs=min:\S*memory-size=2048\S* default$/,
    )
  })
  expect(await reported('/3/groups/default', 'custom_diskparams')).toEqual({ drbd: { metavg: 'fast' } })
  expect(await reported('/3/groups/default', 'custom_ipolicy')).toMatchObject({ minmax: [most(2048)] })
  // A page that was there when it changed may be a moment behind.
  await ui.open('/groups/default')
  await ui.act('Modify', (dialog) => dialog.getByRole('button', { name: 'Remove Range 1' }).click())
  expect(await reported('/3/groups/default', 'custom_ipolicy')).toEqual({})
})

browserTest('parameters of hypervisors have fields at the cluster and for an operating system', async () => {
  await ui.open('/cluster?q=hvparams')
  await ui.act('Change', async (dialog) => {
    await dialog.getByRole('combobox', { name: 'migration_mode' }).click()
    await page.getByRole('option', { name: 'non-live' }).click()
  })
  expect(await reported('/3/cluster', 'hvparams')).toMatchObject({ fake: { migration_mode: 'non-live' } })
  await row('hvparams/fake').getByText('{"migration_mode":"non-live"}').waitFor()
  await ui.open('/os/hostile')
  await ui.act('Change settings', async (dialog) => {
    const own = dialog.getByRole('group', { name: 'Parameters for all instances with this OS' })
    await own.getByRole('textbox', { name: 'banner' }).fill('hello')
    await ui.look('system-settings')
  })
  expect(await reported('/3/os/hostile', 'osparams')).toEqual({ banner: 'hello' })
  await group('Parameters for all instances with this OS').getByText('hello', { exact: true }).waitFor()
  await ui.act('Change settings', (dialog) => dialog.getByRole('textbox', { name: 'banner' }).fill(''))
  expect(await reported('/3/os/hostile', 'osparams')).toEqual({})
})

browserTest('axe-core finds nothing while a list is open in a dialog, or the menu of the other actions', async () => {
  const menu = page.getByRole('menu')
  await ui.open('/nodes/node2.gantry.local')
  await page.getByRole('button', { name: 'More actions' }).click()
  await menu.waitFor()
  await ui.look('menu')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Modify …', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('combobox', { name: 'ovs', exact: true }).click()
  await page.getByRole('option').first().waitFor()
  await ui.look('list-in-dialog')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
})

browserTest('Ctrl-K finds groups, networks, tags and systems, and what can be done', async () => {
  for (const [letters, found] of Object.entries({ defau: 'default', net1: 'net1', sho: 'shop', tiny: 'gantry-tiny' })) {
    await searchFor(letters)
    await page.getByRole('button', { name: found, exact: true }).waitFor()
    if (found === 'shop') await ui.look('search-tag')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(found))
  }
  await searchFor('redistribute')
  await page.getByRole('button', { name: /^Redistribute configuration/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Redistribute configuration' }).click()
  await ui.jobDone('Redistribute configuration')
})

async function searchFor(letters: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Name, address, UUID, setting, page …').fill(letters)
}

browserTest('Ctrl-K finds an instance and a network by an address, and settings and rules by a word', async () => {
  await ok('filter', 'add', '--priority=9', '--predicates=[["jobid", [">", "id", 1000000]]]', '--reason=the rack moves')
  await searchFor('10.9.0.2')
  await page.getByRole('button', { name: 'net1 10.9.0.0/24' }).waitFor()
  await page.getByRole('button', { name: 'vm1 10.9.0.2' }).waitFor()
  await ui.look('search-address')
  await page.getByRole('button', { name: 'vm1 10.9.0.2' }).click()
  await ui.heading('vm1')
  await searchFor('spindle_count')
  await page.getByRole('button', { name: /^ndparams: spindle_count/ }).click()
  await page.waitForURL(/cluster\?q=ndparams/)
  await row('ndparams').first().waitFor()
  await searchFor('rack moves')
  await page.getByRole('button', { name: /the rack moves$/ }).click()
  await page.getByRole('cell', { name: 'the rack moves' }).waitFor()
  await ui.look('rule-found')
  await ui.actAtOnce('Remove')
})

let secret = ''

browserTest('a token is made, shown once, and listed with its scope', async () => {
  await ui.open('/access')
  await row('@operator').waitFor()
  await ui.choose('Make a token')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill(MARKUP)
  await dialog.getByRole('combobox', { name: 'Further permissions' }).fill('*')
  await page.keyboard.press('Enter')
  await dialog.getByRole('combobox', { name: 'Only objects with one of these tags' }).fill('shop')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Make a token', exact: true }).click()
  secret = await dialog.getByRole('textbox', { name: 'Token' }).inputValue()
  expect(secret.length).toBeGreaterThan(20)
  await ui.look('token')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await row(MARKUP).getByText('with one of the tags shop').waitFor()
  await searchFor('<img src')
  await page.getByRole('button', { name: `${MARKUP} admin` }).click()
  await page.waitForURL(/access\?q=/)
  await row(MARKUP).getByText('with one of the tags shop').waitFor()
  expect(await page.content()).not.toContain(secret)
  await ui.look('access')
})

browserTest('what others have written is shown as text', async () => {
  await page.getByText(MARKUP).first().waitFor()
  await ui.open('/os/hostile')
  await page.getByText(MARKUP).waitFor()
  const op = {
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'odd', mode: 'create', disk_template: 'sharedfile' },
    ...{ disks: [{ size: 16 }], nics: [], os_type: 'hostile', pnode: 'node1.gantry.local' },
  }
  const { id } = (await cluster.rapi('POST', '/3/jobs', { ops: [op], reason: MARKUP })).body as { id: number }
  await ui.open(`/jobs/${id}`)
  await page.getByText('Failed').first().waitFor()
  await page.getByRole('alert').getByText(MARKUP).waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.title()).toBe(`Job ${id} · Gantry`)
  expect(complaints).toEqual([])
})

browserTest('who may only read sees what is not allowed before asking for it', async () => {
  const users = path.join(rootOf(1), 'var/lib/ganeti/rapi/users')
  fs.appendFileSync(users, 'reader secret @readonly\n')
  await signedIn((first) => first.signIn('reader', 'secret'))
  await ui.open('/nodes/node1.gantry.local')
  const evacuate = page.getByRole('button', { name: 'Evacuate', exact: true })
  expect(await evacuate.getAttribute('aria-description')).toBe('You need the permission nodes.evacuate')
  expect(await evacuate.isDisabled()).toBe(true)
  await ui.open('/access')
  await page.getByText('Not shown. You need the permission users.list.').waitFor()
  expect(await page.getByRole('button', { name: 'Make a token' }).isDisabled()).toBe(true)
  await ui.open('/cluster')
  expect(await page.getByRole('button', { name: 'Verify the cluster' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Change', exact: true }).first().waitFor()
  expect(await page.getByRole('button', { name: 'Change', exact: true }).first().isDisabled()).toBe(true)
  await ui.look('read-only')
})

const BEYOND = 'This concerns the whole cluster, but your token covers only a part of it'

browserTest(
  'a token with a scope sees its own objects alone, and is told what is outside before asking for it',
  async () => {
    // A token knows the nodes of its instances. This one is neither the master nor has it a tag.
    const place = 'node3.gantry.local'
    const { body } = await cluster.rapi('GET', '/2/instances/vm1')
    if ((body as { pnode: string }).pnode !== place) await ok('instance', 'failover', '-f', '-n', place, 'vm1')
    await signedIn((first) => first.signInWithToken(secret))
    await ui.open('/instances')
    await page.getByRole('link', { name: 'vm1', exact: true }).waitFor()
    await ui.open('/maintenance')
    await page.getByText('Not shown. This concerns the whole cluster').waitFor()
    await ui.open('/cluster')
    const redistribute = page.getByRole('button', { name: 'Redistribute configuration' })
    await redistribute.waitFor()
    expect([await redistribute.isDisabled(), await redistribute.getAttribute('aria-description')]).toEqual([
      true,
      BEYOND,
    ])
    const change = page.getByRole('button', { name: 'Change', exact: true }).first()
    expect([await change.isDisabled(), await change.getAttribute('aria-description')]).toEqual([true, BEYOND])
    await page.getByText('Your token does not cover it.').waitFor()
    await page.getByRole('main').getByRole('link', { name: place, exact: true }).first().waitFor()
    expect(await page.getByRole('main').getByRole('link', { name: 'node2.gantry.local', exact: true }).count()).toBe(0)
    await ui.look('scoped-cluster')
    await ui.open('/groups')
    const group = page.getByRole('button', { name: 'Add group' })
    await group.waitFor()
    expect(await group.isDisabled()).toBe(true)
    await ui.open('/instances/new')
    // What makes it one of the token's is there already; without it nothing is asked for.
    const plan = page.getByRole('complementary', { name: 'Plan' })
    await page.getByText('shop', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Tags' }).press('Backspace')
    await plan.getByText('Your token covers only instances with one of the tags shop').waitFor()
    await ui.look('scoped-create')
    await ui.open('/access')
    const make = page.getByRole('button', { name: 'Make a token' })
    await make.waitFor()
    expect(await make.getAttribute('aria-description')).toBe('Only users who signed in with a password can make tokens')
    await ui.open('/tags')
    await page.getByRole('link', { name: 'vm1', exact: true }).waitFor()
    expect(await page.getByText('rack:1').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

browserTest(
  'that a node has instances outside of the scope is told by its buttons, to keyboard and touch, before they are asked',
  async () => {
    const shared = 'node1.gantry.local'
    await instance('other1', { disk_template: 'diskless', disks: [], start: false, pnode: shared })
    await ok('node', 'add-tags', shared, 'shop')
    const evacuate = page.getByRole('button', { name: 'Evacuate', exact: true })
    const reason = page
      .getByRole('tooltip')
      .getByText('This concerns instances that are outside the scope of your token')
    await ui.open(`/nodes/${shared}`)
    await evacuate.focus()
    await reason.waitFor()
    expect(await page.getByText('other1').count()).toBe(0)
    await ui.look('scoped-node')
    await page.keyboard.press('Tab')
    await reason.waitFor({ state: 'detached' })
    await evacuate.dispatchEvent('click')
    await reason.waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

browserTest('a token that is revoked ends its session', async () => {
  const here = { page, ui }
  const other = await newPage(browser)
  page = other.page
  ui = new ConsolePage(cluster, page)
  await ui.open('/access')
  await ui.signIn('admin', cluster.password)
  await row(MARKUP).getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('There are no tokens.').waitFor()
  await other.context.close()
  ;({ page, ui } = here)
  await page.getByText('Your session has ended').waitFor()
  expect(complaints).toEqual([])
})
