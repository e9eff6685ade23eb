// Instances in the console: made, changed, changed by two at once, many at once, and by keyboard alone.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { browserPresent, browserTest, findings, launchBrowser, newPage, takePictures } from '../support/browser'
import { ConsolePage } from '../support/console-page'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

let cluster: EmbeddedCluster
let browser: Browser
let page: Page
let complaints: string[]

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'kvm'])
  for (const name of ['web1', 'web2']) {
    const made = await cluster.run({
      ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: name, mode: 'create', disk_template: 'sharedfile' },
      ...{ disks: [{ size: 16 }], nics: [{}], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: false },
      ...{ pnode: 'node1.gantry.local', hypervisor: 'kvm' },
    })
    expect(made.status).toBe('success')
  }
  browser = await launchBrowser()
  ;({ page, complaints } = await newPage(browser))
})

afterAll(async () => {
  if (!browserPresent) return
  await browser?.close()
  await cluster?.remove()
})

/** Looks at the page as it is now. */
async function look(name: string): Promise<void> {
  await takePictures(page, name)
  expect([name, await findings(page)]).toEqual([name, []])
}

const open = (path: string) => page.goto(`${cluster.url}/ui${path}`)
const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const tray = () => page.getByRole('region', { name: 'Jobs that you started' })

async function instance(name: string): Promise<Record<string, unknown>> {
  return (await cluster.rapi('GET', `/3/instances/${name}`)).body as Record<string, unknown>
}

/** The job of what was just begun has ended well. */
async function done(label: string): Promise<void> {
  const entry = tray().locator('.tray-entries > *', { hasText: label })
  await entry.getByText(/^(Done|Failed)/).waitFor()
  expect(await entry.textContent()).toContain('Done')
  await entry.getByRole('button', { name: 'Hide this job' }).click()
}

async function fromMenu(label: string): Promise<Locator> {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: `${label} …` }).click()
  return page.getByRole('dialog', { name: label })
}

/** Jobs that have not failed may hide themselves meanwhile. */
async function clearTray(): Promise<void> {
  const hide = tray().getByRole('button', { name: 'Hide this job' }).first()
  while ((await hide.count()) > 0) await hide.click({ timeout: 5000 }).catch(() => undefined)
}

/** What the hypervisor of its node knows of one that runs. */
function runtimeFile(node: string, name: string): string {
  return path.join(cluster.root, node, 'var/run/ganeti/kvm-hypervisor/conf', `${name}.runtime`)
}

/** Goes on with the Tab key until that is focused whose name it is. */
async function tabTo(name: string): Promise<void> {
  for (let steps = 0; steps < 150; steps++) {
    const focused = page.locator(':focus')
    const roles = (['textbox', 'combobox', 'button', 'link'] as const).map((role) =>
      page.getByRole(role, { name, exact: true }),
    )
    const found = roles.reduce((one, other) => one.or(other))
    if ((await found.and(focused).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not lead to ${name}`)
}

browserTest('a keyboard is enough to sign in, make a VM and remove it', async () => {
  await open('/')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await tabTo('User')
  await page.keyboard.type('admin')
  await tabTo('Password')
  await page.keyboard.type(cluster.password)
  await page.keyboard.press('Enter')
  await heading('cluster.gantry.local')
  await tabTo('Instances')
  await page.keyboard.press('Enter')
  await heading('Instances')
  await tabTo('New instance')
  await page.keyboard.press('Enter')
  await heading('New instance')
  await tabTo('Name')
  await page.keyboard.type('key1')
  await tabTo('OS')
  await page.keyboard.press('Enter')
  const option = page.getByRole('option', { name: 'gantry-tiny' })
  await option.waitFor()
  while ((await option.getAttribute('data-combobox-selected')) === null) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await tabTo('Memory')
  await page.keyboard.type('64m')
  await tabTo('Size')
  await page.keyboard.type('16m')
  await page.getByText('The plan found no obstacle.').waitFor()
  await page.getByText('chosen', { exact: true }).waitFor()
  const ranking = page.getByRole('complementary', { name: 'Plan' }).getByRole('group').filter({ hasText: 'chosen' })
  expect(await ranking.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
    'gnt allocation capacity --disk-template=sharedfile --memory=64m --vcpus=1 --disks=16m --max-instances=0 --explain',
  )
  await look('create')
  await tabTo('Create')
  await page.keyboard.press('Enter')
  await heading('key1')
  await done('Create key1')
  await page.getByText('Running').first().waitFor()
  await tabTo('More actions')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Remove …' }).waitFor()
  await takePictures(page, 'menu')
  const remove = page.getByRole('menuitem', { name: 'Remove …' })
  while ((await remove.and(page.locator(':focus')).count()) === 0) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await tabTo('Type key1 to confirm')
  await page.keyboard.type('key1')
  await page.keyboard.press('Enter')
  await page.getByText('key1 was removed.').waitFor()
  await heading('Instances')
  expect(await page.getByText('This did not work').count()).toBe(0)
  expect((await cluster.rapi('GET', '/3/instances/key1')).status).toBe(404)
})

browserTest('what is wrong is told at its field, by the form and by the server, and what was typed stays', async () => {
  await open('/instances/new')
  await page.getByRole('textbox', { name: 'Name' }).first().fill('no name!')
  await page.getByRole('combobox', { name: 'OS' }).click()
  await page.getByRole('option', { name: 'gantry-tiny' }).click()
  const size = page.getByRole('textbox', { name: 'Size' })
  await size.fill('ten parsecs')
  await page.getByText('Size: must be a size such as 512m, 10g or 1.5t').waitFor()
  await size.fill('16m')
  // The server says this when it plans.
  await page.getByText("'no name!' is no name").waitFor()
  await page.getByText('Correct the marked field.').waitFor()
  expect(await page.getByRole('textbox', { name: 'Name' }).first().getAttribute('aria-invalid')).toBe('true')
  await look('create-wrong')
  expect(await size.inputValue()).toBe('16m')
})

browserTest('an instance that is only reserved says so, and is made from its page', async () => {
  const reserved = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'later1', mode: 'create', disk_template: 'sharedfile' },
    ...{ disks: [{ size: 16 }], nics: [{}], os_type: 'gantry-tiny', beparams: { memory: 64 }, forthcoming: true },
    ...{ pnode: 'node1.gantry.local', hypervisor: 'kvm' },
  })
  expect(reserved.status).toBe('success')
  await open('/instances')
  await page
    .getByRole('row', { name: /later1/ })
    .getByText('Reserved')
    .waitFor()
  await open('/instances/later1')
  await page.getByText('Reserved').first().waitFor()
  expect(await page.getByRole('button', { name: 'Start', exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Create now', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Create now' })
  await dialog.getByLabel('Start it after creation').uncheck()
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('The plan found no obstacle.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
    'gnt instance add --commit --no-start later1',
  )
  await look('commit')
  await dialog.getByRole('button', { name: 'Create now', exact: true }).click()
  await done('Create now')
  await page.getByText('Stopped').first().waitFor()
  await page.getByRole('button', { name: 'Start', exact: true }).waitFor()
  const removed = await cluster.run({ OP_ID: 'OP_INSTANCE_REMOVE', instance_name: 'later1', shutdown_timeout: 0 })
  expect(removed.status).toBe('success')
})

browserTest('a disk grows by its dialog, which first shows what it will do', async () => {
  await open('/instances/web1')
  await page.getByRole('button', { name: 'Grow disk 0', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Grow' })
  await dialog.getByLabel('New size').fill('8m')
  await dialog.getByText('New size: must be more than 16 MiB').waitFor()
  await dialog.getByLabel('New size').fill('32m')
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('The plan found no obstacle.').waitFor()
  await dialog.getByText('disk', { exact: false }).first().waitFor()
  expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
    'gnt instance grow-disk --absolute web1 0 32m',
  )
  await look('grow')
  await dialog.getByRole('button', { name: 'Grow', exact: true }).click()
  await done('Grow')
  await page.getByRole('cell', { name: '32 MiB' }).waitFor()
})

browserTest('of two who change the same instance, the second is shown what has changed, and may go on', async () => {
  await open('/instances/web1')
  const dialog = await fromMenu('Resources')
  await dialog.getByLabel('vCPUs').fill('2')
  const other = await cluster.rapi('PATCH', '/3/instances/web1?reason=another', { beparams: { vcpus: 3 } })
  expect(other.status).toBe(202)
  await dialog.getByText('The object has changed').waitFor()
  await dialog.getByRole('cell', { name: 'custom_beparams.vcpus' }).waitFor()
  expect(await dialog.getByRole('button', { name: 'Change', exact: true }).isDisabled()).toBe(true)
  await look('conflict')
  expect(await dialog.getByLabel('vCPUs').inputValue()).toBe('2')
  await dialog.getByRole('button', { name: 'Continue with the present state' }).click()
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await done('Resources')
  expect((await instance('web1'))['custom_beparams']).toMatchObject({ vcpus: 2 })
})

browserTest('parameters say where they come from, and one is found by its name', async () => {
  await page.getByRole('tab', { name: 'Parameters' }).click()
  const row = page.getByRole('table', { name: 'Resources' }).getByRole('row', { name: /^vcpus/ })
  expect(await row.textContent()).toContain('this instance')
  await look('parameters')
  await page.getByRole('tab', { name: 'Jobs and events' }).click()
  await page.getByText('Configuration changed').first().waitFor()
  await look('activity')
  const dialog = await fromMenu('Hypervisor parameters')
  await dialog.getByLabel('Find a parameter').fill('boot')
  await dialog.getByRole('combobox', { name: 'Boot device' }).click()
  await page.getByRole('option', { name: 'network' }).click()
  await look('hypervisor')
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await done('Hypervisor parameters')
  expect((await instance('web1'))['custom_hvparams']).toMatchObject({ boot_order: 'network' })
})

browserTest('the page of an instance goes with it when it is renamed', async () => {
  const dialog = await fromMenu('Rename')
  await dialog.getByLabel('New name').fill('shop1')
  await dialog.getByRole('button', { name: 'Rename', exact: true }).click()
  await heading('shop1')
})

browserTest('many are chosen and started with one plan and a job for each, and failures are listed', async () => {
  await open('/instances?cols=status.memory')
  await page.getByRole('link', { name: 'web2' }).waitFor()
  await page.getByLabel('Choose all shown instances').click()
  await page.getByText('2 chosen').waitFor()
  await look('bulk')
  const bar = page.getByRole('region', { name: 'Actions for the chosen instances' })
  await bar.getByRole('button', { name: 'Start' }).click()
  let dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('INSTANCE_STARTUP(web2)').first().waitFor()
  await dialog.getByRole('button', { name: 'Copy as gnt' }).waitFor()
  await dialog.getByRole('button', { name: 'Start 2 instances' }).click()
  await dialog.waitFor({ state: 'detached' })
  await tray().getByText('2 of 2 done').first().waitFor()
  await look('bulk-progress')
  await clearTray()
  await page.getByRole('cell', { name: 'Running' }).nth(1).waitFor()
  expect((await cluster.rapi('POST', '/3/instances/web2/shutdown', { timeout: 0 })).status).toBe(202)
  await page.getByRole('cell', { name: 'Stopped' }).waitFor()
  await bar.getByRole('button', { name: 'Migrate' }).click()
  dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Migrate 2 instances' }).click()
  await tray().getByText('1 of 2 done, 1 failed').waitFor()
  await tray().getByRole('link', { name: 'web2' }).waitFor()
  await look('bulk-failed')
  await clearTray()
})

browserTest('of many, one that has changed since the plan was shown is left as it is, and told of', async () => {
  const bar = page.getByRole('region', { name: 'Actions for the chosen instances' })
  await bar.getByRole('button', { name: 'Stop' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('INSTANCE_SHUTDOWN(shop1)').first().waitFor()
  // The plan is not of what is typed afterwards.
  await dialog.getByRole('textbox', { name: 'Shutdown timeout' }).fill('7')
  await dialog.getByText('INSTANCE_SHUTDOWN(shop1)').first().waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('INSTANCE_SHUTDOWN(shop1)').first().waitFor()
  const change = { OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'shop1', beparams: { spindle_use: 2 } }
  expect((await cluster.run(change)).status).toBe('success')
  await dialog.getByRole('button', { name: 'Stop 2 instances' }).click()
  await tray().getByText('1 of 2 done, 1 failed').waitFor()
  await tray().getByText('The cluster has changed').waitFor()
  expect((await instance('shop1'))['status']).toBe('running')
  await clearTray()
})

browserTest(
  'the list is filtered by where an instance runs and what it is, and each filter is a chip to take away',
  async () => {
    await open('/instances?status=ADMIN_down')
    const found = page.getByRole('link', { name: 'web2', exact: true })
    await found.waitFor()
    await page.getByRole('button', { name: 'Filters' }).click()
    const node = page.getByRole('combobox', { name: 'Primary node' })
    await node.fill('node2.gantry.local')
    await node.press('Enter')
    await page.waitForURL(/node=node2/)
    expect(await node.and(page.locator(':focus')).count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.getByText('Nothing matches the filter').waitFor()
    await look('filters')
    await page.getByRole('button', { name: 'Remove Primary node: node2.gantry.local' }).click()
    await found.waitFor()
    expect(await page.getByRole('group', { name: 'Active filters' }).textContent()).toBe('Status: Stopped')
  },
)

browserTest('a view is kept by name, and leads back to its columns and its filter', async () => {
  await open('/instances?cols=status.memory')
  await page.getByRole('searchbox').focus()
  // Each letter takes effect before the next one comes.
  for (const so_far of ['w', 'we', 'web']) {
    await page.keyboard.type(so_far.slice(-1))
    await page.waitForURL(new RegExp(`q=${so_far}$`))
  }
  expect(await page.getByRole('searchbox').inputValue()).toBe('web')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByLabel('Name of this view').fill('webs')
  await page.getByRole('button', { name: 'Save' }).click()
  await open('/instances')
  await page.getByRole('columnheader', { name: 'OS', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'webs' }).click()
  await page.waitForURL(/q=web/)
  await page.getByRole('link', { name: 'shop1' }).waitFor({ state: 'detached' })
  await page.getByRole('columnheader', { name: 'OS', exact: true }).waitFor({ state: 'detached' })
})

browserTest(
  'a network card is added to an instance that runs, at once, then changed and removed for its next start',
  async () => {
    await open('/instances/shop1')
    await page.getByText('Running').first().waitFor()
    const cards = page.getByRole('table', { name: 'Network cards' })
    let dialog = await fromMenu('Add network card')
    await dialog.getByRole('button', { name: 'More options' }).click()
    await dialog.getByRole('textbox', { name: 'MAC address' }).fill('aa:00:00:12:34:56')
    await look('add-nic')
    await dialog.getByRole('button', { name: 'Add network card', exact: true }).click()
    await done('Add network card')
    const row = cards.getByRole('row').filter({ hasText: 'aa:00:00:12:34:56' })
    await row.waitFor()
    // The running machine has it, and not only its configuration.
    const at = String((await instance('shop1'))['pnode'])
    expect(fs.readFileSync(runtimeFile(at, 'shop1'), 'utf8')).toContain('aa:00:00:12:34:56')
    await row.getByRole('button', { name: 'Change network card 1' }).click()
    dialog = page.getByRole('dialog', { name: 'Change network card' })
    const address = dialog.getByRole('textbox', { name: 'IP address' })
    await address.fill('no address')
    await dialog.getByRole('button', { name: 'Show what it will do' }).click()
    await dialog.getByText('This is not possible now.').waitFor()
    expect(await address.inputValue()).toBe('no address')
    await look('change-nic-refused')
    await address.fill('10.7.0.9')
    // The small guest never gives a card back while it runs.
    await dialog.getByRole('button', { name: 'More options' }).click()
    await dialog.getByRole('switch', { name: 'Apply at once (hotplug)' }).click()
    await dialog.getByRole('button', { name: 'Change network card', exact: true }).click()
    await done('Change network card')
    await row.getByRole('cell', { name: '10.7.0.9' }).waitFor()
    await row.getByRole('button', { name: 'Remove network card 1' }).click()
    dialog = page.getByRole('dialog', { name: 'Remove network card' })
    expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
      'gnt instance modify --net 1:remove shop1',
    )
    await dialog.getByRole('switch', { name: 'Apply at once (hotplug)' }).click()
    await dialog.getByRole('button', { name: 'Remove network card', exact: true }).click()
    await done('Remove network card')
    await row.waitFor({ state: 'detached' })
  },
)

browserTest('an instance is installed anew, exported, and made again from its export', async () => {
  await open('/instances/web2')
  let dialog = await fromMenu('Reinstall')
  const again = dialog.getByRole('button', { name: 'Reinstall', exact: true })
  expect(await again.isDisabled()).toBe(true)
  await dialog.getByRole('textbox', { name: 'Type web2 to confirm' }).fill('web2')
  await look('reinstall')
  await again.click()
  await done('Reinstall')
  dialog = await fromMenu('Export')
  await dialog.getByRole('combobox', { name: 'Node for the export' }).fill('node3.gantry.local')
  await look('export')
  await dialog.getByRole('button', { name: 'Export', exact: true }).click()
  await done('Export')
  await open('/exports')
  await page.getByRole('row').filter({ hasText: 'web2' }).getByRole('link', { name: 'Import' }).click()
  await heading('New instance from the export web2')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('web3')
  await page.getByRole('combobox', { name: 'Disk template' }).click()
  await page.getByRole('option', { name: /^sharedfile/ }).click()
  await page.getByText('The plan found no obstacle.').waitFor()
  await look('import')
  expect(await page.getByRole('button', { name: 'Copy as gnt' }).first().getAttribute('title')).toMatch(
    /^gnt backup import .*--src-node=node3\.gantry\.local --src-dir=web2 .*web3$/,
  )
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await done('web3')
  expect(await instance('web3')).toMatchObject({ status: 'running', os: 'gantry-tiny', 'disk.sizes': [16] })
})

/** External storage whose volumes are files, so that snapshots do not depend on the file system of this machine. */
async function shelf(): Promise<string> {
  const folder = path.join(cluster.root, 'shelf')
  fs.mkdirSync(folder)
  const [volume, copy] = [`${folder}/"$VOL_NAME"`, `${folder}/"$VOL_SNAPSHOT_NAME"`]
  const scripts = {
    ...{ create: `truncate -s "$VOL_SIZE"M ${volume}`, remove: `rm ${volume}`, snapshot: `cp ${volume} ${copy}` },
    ...{ attach: `[ -e ${volume} ] && echo && echo kvm:${volume}`, grow: 'exit 1' },
    ...{ detach: 'exit 0', setinfo: 'exit 0', verify: 'exit 0' },
  }
  for (const n of [1, 2, 3]) {
    const provider = path.join(cluster.root, `node${n}.gantry.local/srv/ganeti/extstorage/shelf`)
    fs.mkdirSync(provider, { recursive: true })
    fs.writeFileSync(path.join(provider, 'parameters.list'), '')
    for (const [name, body] of Object.entries(scripts))
      fs.writeFileSync(path.join(provider, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
  }
  const changed = await cluster.run({
    ...{ OP_ID: 'OP_CLUSTER_SET_PARAMS', diskparams: { ext: { access: 'userspace' } } },
    enabled_disk_templates: ['sharedfile', 'file', 'plain', 'drbd', 'diskless', 'ext'],
  })
  expect(changed).toMatchObject({ status: 'success' })
  return folder
}

browserTest('a snapshot is taken with its plan, listed and removed', async () => {
  const folder = await shelf()
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'snap1', mode: 'create', disk_template: 'ext' },
    ...{ disks: [{ size: 16, provider: 'shelf' }], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 } },
    ...{ no_install: true, start: false, pnode: 'node1.gantry.local', hypervisor: 'kvm' },
  })
  expect(made).toMatchObject({ status: 'success' })
  const [volume = ''] = fs.readdirSync(folder)
  fs.writeFileSync(path.join(folder, volume), 'written first')
  await open('/instances/snap1')
  await page.getByText('No snapshots.').waitFor()
  let dialog = await fromMenu('Create snapshot')
  await dialog.getByRole('textbox', { name: 'Name of the snapshot' }).fill('before')
  await dialog.getByRole('button', { name: 'Show what it will do' }).click()
  await dialog.getByText('The plan found no obstacle.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
    'gnt instance snapshot --disk=0:snapshot_name=before snap1',
  )
  await look('snapshot')
  await dialog.getByRole('button', { name: 'Create snapshot', exact: true }).click()
  await done('Create snapshot')
  const listed = page.getByRole('table', { name: 'Snapshots' }).getByRole('row').filter({ hasText: 'before' })
  await listed.getByRole('cell', { name: '16 MiB' }).waitFor()
  fs.writeFileSync(path.join(folder, volume), 'written afterwards')
  expect(fs.readFileSync(path.join(folder, 'before'), 'utf8')).toBe('written first')
  await look('snapshots')
  await listed.getByRole('button', { name: 'Remove' }).click()
  dialog = page.getByRole('dialog', { name: 'Remove snapshot' })
  await dialog.getByRole('button', { name: 'Remove snapshot', exact: true }).click()
  await done('Remove snapshot')
  await page.getByText('No snapshots.').waitFor()
  expect(fs.readdirSync(folder)).toEqual([volume])
})

browserTest('a mirror gets another secondary node', async () => {
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'twin', mode: 'create', disk_template: 'drbd' },
    ...{ disks: [{ size: 16 }], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: false },
    ...{ pnode: 'node1.gantry.local', snode: 'node2.gantry.local', hypervisor: 'kvm' },
  })
  expect(made.status).toBe('success')
  await open('/instances/twin')
  const dialog = await fromMenu('Replace disks')
  await dialog.getByRole('combobox', { name: 'What to replace' }).click()
  await page.getByRole('option', { name: 'The secondary node, by a new node' }).click()
  await dialog.getByText('Name the new secondary node, or an allocator.').waitFor()
  await dialog.getByRole('combobox', { name: 'New secondary node' }).fill('node3.gantry.local')
  await look('replace-disks')
  await dialog.getByRole('button', { name: 'Replace disks', exact: true }).click()
  await done('Replace disks')
  expect(await instance('twin')).toMatchObject({ snodes: ['node3.gantry.local'] })
  expect(complaints).toEqual([])
})

browserTest('a token with a scope is shown what it may not set of its instances, and sets the rest', async () => {
  const tagged = await cluster.run({ OP_ID: 'OP_TAGS_SET', kind: 'instance', name: 'web2', tags: ['shop'] })
  expect(tagged.status).toBe('success')
  const token = await cluster.gnt(
    'token',
    'create',
    '--user',
    'admin',
    '--permissions',
    '*',
    '--tags',
    'shop',
    'guests',
  )
  ;({ page, complaints } = await newPage(browser))
  await open('/instances/web2')
  await new ConsolePage(cluster, page).signInWithToken(token.stdout.trim())
  await heading('web2')
  let dialog = await fromMenu('Hypervisor parameters')
  await dialog.getByText('Your token may not set this: it concerns the nodes. A file on the node; empty to').waitFor()
  expect(await dialog.getByRole('textbox', { name: 'Kernel', exact: true }).isDisabled()).toBe(true)
  await look('scoped-hypervisor')
  await dialog.getByRole('combobox', { name: 'Disk controller' }).click()
  await page.getByRole('option', { name: 'scsi-hd' }).waitFor()
  expect(await page.getByRole('option', { name: 'scsi-block' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await dialog.getByLabel('Find a parameter').fill('acpi')
  await dialog.getByRole('combobox', { name: 'ACPI' }).click()
  await page.getByRole('option', { name: 'No', exact: true }).click()
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await done('Hypervisor parameters')
  expect((await instance('web2'))['custom_hvparams']).toEqual({ acpi: false })
  dialog = await fromMenu('Add network card')
  await dialog.getByRole('button', { name: 'More options' }).click()
  expect(await dialog.getByRole('textbox', { name: 'Link' }).isDisabled()).toBe(true)
  expect(await dialog.getByRole('textbox', { name: 'MAC address' }).isDisabled()).toBe(false)
  await look('scoped-nic')
  expect(complaints).toEqual([])
})
