// The console as people use it: a real browser, a whole cluster and a real virtual machine.
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browserPresent, browserTest, launchBrowser, newPage } from '../support/browser'
import { ConsolePage } from '../support/console-page'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

let cluster: EmbeddedCluster
let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]
let ui: ConsolePage

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'kvm'])
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'web1', mode: 'create', disk_template: 'sharedfile' },
    ...{ disks: [{ size: 16 }], nics: [{}], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: false },
    ...{ tags: ['shop', 'tier:front'], pnode: 'node1.gantry.local', hypervisor: 'kvm' },
  })
  expect(made.status).toBe('success')
  browser = await launchBrowser()
  ;({ context, page, complaints } = await newPage(browser))
  ui = new ConsolePage(cluster, page)
})

afterAll(async () => {
  if (!browserPresent) return
  await browser?.close()
  await cluster?.remove()
})

const look = (name: string) => ui.look(name)
const open = (path: string) => ui.open(path)
const heading = (name: string) => ui.heading(name)
const signIn = (user: string, password: string) => ui.signIn(user, password)
const act: ConsolePage['act'] = (label, change) => ui.act(label, change)

browserTest('a wrong password is told, and what was typed stays', async () => {
  await open('/')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await look('sign-in')
  await signIn('admin', 'wrong')
  expect(await page.getByRole('alert').textContent()).toContain('The user or the password is wrong')
  expect(await page.getByLabel('User').inputValue()).toBe('admin')
})

browserTest('the right one leads to the overview, and is not asked for again by a reload', async () => {
  await signIn('admin', cluster.password)
  await page.getByRole('region', { name: 'Health' }).waitFor()
  await page.reload()
  // Monitoring may report what this machine lacks.
  const well = page.getByRole('region', { name: 'Health' })
  await well.getByText('No problems found.').or(well.getByRole('link')).first().waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await look('overview')
})

browserTest('instances are found by a part of their name, and the address keeps the view', async () => {
  await open('/instances')
  await page.getByRole('link', { name: 'web1', exact: true }).waitFor()
  await page.getByRole('cell', { name: 'Stopped', exact: true }).waitFor()
  await look('instances')
  await page.getByRole('searchbox').fill('nothing')
  await page.getByText('Nothing matches the filter').waitFor()
  await page.waitForURL(/q=nothing/)
  await page.getByRole('searchbox').fill('EB')
  await page.getByRole('link', { name: 'web1', exact: true }).waitFor()
  await page.reload()
  expect(await page.getByRole('searchbox').inputValue()).toBe('EB')
  await page.getByRole('link', { name: 'web1', exact: true }).click()
  await heading('web1')
})

browserTest(
  'an instance is started, migrated and stopped, each with its job to the end, and the page follows',
  async () => {
    await open('/instances/web1')
    await act('Start')
    await page.getByText('Running').first().waitFor()
    await look('instance')
    await act('Migrate', async (dialog) => {
      await dialog.getByLabel('Target node').fill('node2.gantry.local')
      expect(await dialog.getByRole('button', { name: 'Copy as gnt' }).getAttribute('title')).toBe(
        'gnt instance migrate --force --target-node=node2.gantry.local web1',
      )
      // Its list of names goes.
      await dialog.getByLabel('Target node').blur()
      await look('dialog')
    })
    await page.getByRole('link', { name: 'node2.gantry.local' }).first().waitFor()
    await act('Stop', (dialog) => dialog.getByLabel('Shutdown timeout').fill('1'))
    await page.getByText('Stopped').first().waitFor()
  },
)

browserTest('a job that fails tells the way out, and its dialog is opened again with what was typed', async () => {
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Fail over' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Target node').fill('no such node')
  await dialog.getByRole('button', { name: 'Fail over', exact: true }).click()
  const entry = page.getByRole('region', { name: 'Jobs that you started' })
  await entry.getByText('Failed').waitFor()
  await look('job-failed')
  await entry.getByRole('link').click()
  await page
    .getByRole('main')
    .getByRole('alert')
    .getByText(/Look for its name in the lists/)
    .waitFor()
  await page.getByText('No messages.', { exact: true }).waitFor()
  await look('job')
  await page.getByRole('main').getByRole('button', { name: 'Try again with the same input' }).click()
  expect(await dialog.getByLabel('Target node').inputValue()).toBe('no such node')
  await page.keyboard.press('Escape')
  expect(await entry.textContent()).toBe('')
})

browserTest('jobs, nodes, groups and networks have pages', async () => {
  await open('/jobs')
  await page.getByRole('cell', { name: 'INSTANCE_MIGRATE(web1)' }).waitFor()
  await look('jobs')
  await open('/nodes')
  await page.getByRole('link', { name: 'node2.gantry.local' }).click()
  await heading('node2.gantry.local')
  await page.getByText('Everything').or(page.getByText('Primary address')).first().waitFor()
  await look('node')
  await open('/nodes')
  await page.getByRole('link', { name: 'node3.gantry.local' }).waitFor()
  await look('nodes')
  await open('/groups')
  await page.getByRole('cell', { name: 'default' }).waitFor()
  await look('groups')
  await open('/networks')
  await page.getByText('There are no networks.').waitFor()
  await look('networks')
})

browserTest('Ctrl-K finds instances and leads to them', async () => {
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Name, address, UUID, setting, page …').fill('web')
  await page.getByRole('button', { name: 'web1' }).waitFor()
  await look('search')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await heading('web1')
})

browserTest('a session that was ended elsewhere is asked for again over the page, once for all pages', async () => {
  await open('/instances/web1')
  await heading('web1')
  const other = await context.newPage()
  await other.goto(`${cluster.url}/ui/instances/web1`)
  await other.getByRole('button', { name: 'More actions' }).click()
  await other.getByRole('menuitem', { name: 'Rename …' }).click()
  const typed = other.getByRole('dialog').getByRole('textbox').first()
  await typed.fill('typed-before')
  expect((await cluster.rapi('DELETE', '/3/session?everywhere=true')).status).toBe(204)
  await page.getByText('Your session has ended').waitFor()
  await other.getByText('Your session has ended').waitFor()
  await look('session-ended')
  await page.getByRole('textbox', { name: 'Password' }).fill(cluster.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Live', { exact: true }).waitFor()
  await heading('web1')
  await other.getByText('Your session has ended').waitFor({ state: 'hidden' })
  await other.getByText('Live', { exact: true }).waitFor()
  expect(await typed.inputValue()).toBe('typed-before')
  await other.close()
})

browserTest('after signing out, nothing is shown any more, and no page complained', async () => {
  await page.getByRole('button', { name: /^Signed in as/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await open('/instances/web1')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  expect(await context.cookies()).toEqual([])
  expect(complaints).toEqual([])
})
