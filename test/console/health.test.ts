// Whether people can believe the console: what happens to nodes shows on pages that are open.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { browserPresent, browserTest, launchBrowser, newPage } from '../support/browser'
import { ConsolePage } from '../support/console-page'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const NODE = 'node2.gantry.local'

let cluster: EmbeddedCluster
let browser: Browser
let overview: Page
let list: Page
let ui: ConsolePage

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'fake'])
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'web1', mode: 'create', disk_template: 'diskless' },
    ...{ disks: [], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: true, pnode: NODE },
  })
  expect(made).toMatchObject({ status: 'success' })
  browser = await launchBrowser()
  const { page, context } = await newPage(browser)
  overview = page
  ui = new ConsolePage(cluster, overview)
  await ui.open('/')
  await ui.signIn('admin', cluster.password)
  await health().waitFor()
  list = await context.newPage()
  await new ConsolePage(cluster, list).open('/instances')
})

afterAll(async () => {
  if (!browserPresent) return
  await browser?.close()
  await cluster?.remove()
})

const health = () => overview.getByRole('region', { name: 'Health' })
const finding = (text: string | RegExp) => health().locator('.finding').getByText(text)
/** What the node's own monitoring daemon says of the daemon that hangs. */
const REPORTED = 'noded runs, and does not answer'
const row = (text: string) => list.getByRole('row', { name: /web1/ }).getByText(text, { exact: true })

const noded = () => Number(fs.readFileSync(path.join(cluster.root, NODE, 'var/run/ganeti/ganeti-noded.pid'), 'utf8'))

browserTest('a node that dies shows on pages that are open, and so does its return', async () => {
  await row('Running').waitFor()
  process.kill(noded(), 'SIGSTOP')
  try {
    await row('Its node does not answer').waitFor()
    await finding('1 instance: Its node does not answer').waitFor()
    expect(await finding('No problems found.').count()).toBe(0)
    await overview.getByRole('region', { name: 'Recent events' }).getByText('Does not answer').waitFor()
    await ui.look('overview-dead-node')
  } finally {
    process.kill(noded(), 'SIGCONT')
  }
  await row('Running').waitFor()
  await finding('1 instance: Its node does not answer').waitFor({ state: 'detached' })
})

browserTest(
  'what all nodes are asked for is asked for again after a node fell silent, and other answers say that they are old',
  async () => {
    const room = overview.getByRole('region', { name: 'Capacity and reserve' })
    await room.getByRole('button', { name: 'Refresh' }).click()
    await room.getByText(/As of \d\d:\d\d \S+\.\s*$/).waitFor()
    // The reports of the time before, when it was silent, have been replaced.
    await finding(REPORTED).waitFor({ state: 'detached' })
    process.kill(noded(), 'SIGSTOP')
    try {
      await finding(REPORTED).waitFor()
      await room.getByText(/As of \d\d:\d\d \S+\. The cluster has changed since\./).waitFor()
      // A button is paler while its question is asked.
      await overview.locator('[data-loading]').waitFor({ state: 'detached' })
      await ui.look('overview-old-answers')
    } finally {
      process.kill(noded(), 'SIGCONT')
    }
  },
)

browserTest('a verification that ended in an error is no sign that all is well', async () => {
  const failed = await cluster.run({ OP_ID: 'OP_CLUSTER_VERIFY', group_name: 'nobody' })
  expect(failed.status).toBe('error')
  await finding(/^Verify did not finish \(job \d+\): .*nobody/).waitFor()
  await new ConsolePage(cluster, list).open('/cluster')
  await list.getByText(/^Job \d+ did not finish\.$/).waitFor()
})
