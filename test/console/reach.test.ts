// What the console has is reached by everybody: in narrow and wide windows, by keyboard and by touch, and also where it is refused.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browserPresent, browserTest, cutTexts, launchBrowser, newPage } from '../support/browser'
import { ConsolePage } from '../support/console-page'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

let cluster: EmbeddedCluster
let browser: Browser
let context: BrowserContext
let page: Page
let ui: ConsolePage
let complaints: string[]

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'fake'])
  for (const name of ['vm1', 'vm2', 'vm3']) {
    const made = await cluster.run({
      ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: name, mode: 'create', disk_template: 'diskless', disks: [] },
      ...{ nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: false, pnode: 'node1.gantry.local' },
    })
    expect(made).toMatchObject({ status: 'success' })
  }
  await ok('instance', 'add-tags', 'vm1', 'shop')
  await ok('filter', 'add', '--priority=3', '--predicates=[["jobid", [">", "id", 1000000]]]', '--action=PAUSE')
  browser = await launchBrowser()
  ;({ context, page, complaints } = await newPage(browser))
  ui = new ConsolePage(cluster, page)
  await ui.open('/')
  await ui.signIn('admin', cluster.password)
  await page.getByText('Live', { exact: true }).waitFor()
})

afterAll(async () => {
  if (!browserPresent) return
  await context?.close()
  await browser?.close()
  await cluster?.remove()
})

async function ok(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.gnt(...words)
  if (code !== 0) throw new Error(`gnt ${words.join(' ')}: ${stderr}`)
  return stdout
}

const WIDE = { width: 1440, height: 900 }
const NARROW = { width: 390, height: 844 }
const WIDEST = { width: 2560, height: 1440 }

/** Lists of objects without a page: in their lists is everything that can be seen of them and done with them. */
const WHOLE_LISTS = [
  { address: '/rules', heads: ['Action', 'Actions', 'Priority', 'Jobs', 'Reason', 'Since job'] },
  { address: '/locks', heads: ['Lock', 'Held by', 'Waiting', 'Mode'] },
  { address: '/tags', heads: ['Tag', 'Objects', 'Objects with the tag'] },
]

browserTest('in narrow windows, lists of objects without a page scroll sideways to all of their columns', async () => {
  await page.setViewportSize(NARROW)
  for (const { address, heads } of WHOLE_LISTS) {
    await ui.open(address)
    await page.getByRole('table').getByRole('columnheader').first().waitFor()
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(heads)
    for (const name of heads) {
      const head = page.getByRole('columnheader', { name, exact: true })
      await head.scrollIntoViewIfNeeded()
      const box = await head.boundingBox()
      expect([name, (box?.x ?? -1) >= 0 && (box?.x ?? NARROW.width) < NARROW.width]).toEqual([name, true])
    }
  }
  await page.getByRole('link', { name: 'vm1', exact: true }).click()
  await ui.heading('vm1')
})

browserTest('in a narrow window, a rule is removed', async () => {
  await page.setViewportSize(NARROW)
  await ui.open('/rules')
  const change = await page.getByRole('button', { name: 'Change', exact: true }).boundingBox()
  const remove = await page.getByRole('button', { name: 'Remove', exact: true }).boundingBox()
  expect([change, remove].map((box) => box !== null && box.x + box.width <= NARROW.width)).toEqual([true, true])
  for (const { address } of WHOLE_LISTS) {
    await ui.open(address)
    await page.getByRole('table').getByRole('columnheader').first().waitFor()
    await ui.look(`narrow-${address.slice(1)}`)
    await page.setViewportSize(NARROW)
  }
  await ui.open('/rules')
  await ui.actAtOnce('Remove')
  await page.getByText('There are no rules').waitFor()
  await page.setViewportSize(WIDE)
})

browserTest('the widest windows are filled, and no page is wider', async () => {
  await page.setViewportSize(WIDEST)
  for (const address of ['/', '/instances', '/tags', '/nodes', '/instances/vm1', '/cluster', '/topology']) {
    await ui.open(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    const [displayed, room] = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollWidth, innerWidth]',
    )
    expect([address, displayed]).toEqual([address, room])
  }
  await ui.open('/tags')
  await page.getByRole('link', { name: 'vm1', exact: true }).waitFor()
  const table = await page.getByRole('table').boundingBox()
  expect(table?.width).toBeGreaterThan(2200)
  await page.setViewportSize(WIDE)
})

browserTest('a bulk action names what it concerns, without instances that are gone', async () => {
  await ui.open('/instances')
  for (const name of ['vm1', 'vm2', 'vm3']) await page.getByRole('checkbox', { name: `Choose ${name}` }).click()
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('vm1')
  await page.getByRole('link', { name: 'vm2', exact: true }).waitFor({ state: 'detached' })
  // The list also looks for chosen instances that it does not show. It would find first that one of them is gone.
  const looksForHidden = (address: URL) => /filter=.*vm2/.test(address.search) && !address.search.includes('vm1')
  await page.route(looksForHidden, (route) => route.abort())
  const removed = await cluster.run({ OP_ID: 'OP_INSTANCE_REMOVE', instance_name: 'vm3', ignore_failures: false })
  expect(removed).toMatchObject({ status: 'success' })
  await page.getByText('3 chosen').waitFor()
  await page
    .getByRole('region', { name: 'Actions for the chosen instances' })
    .getByRole('button', { name: 'Remove' })
    .click()
  const dialog = page.getByRole('dialog', { name: 'Remove 2 instances' })
  const names = await dialog.getByRole('group', { name: 'Names of the chosen instances' }).textContent()
  expect(names?.split('\n')).toEqual(['vm1', 'vm2'])
  await dialog.getByText('1 instance of those that you chose is gone, and was left out.').waitFor()
  await ui.look('bulk-remove')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('2 chosen').waitFor()
  await page.unroute(looksForHidden)
})

browserTest('a click beside a dialog leaves it as it is', async () => {
  await ui.open('/rules')
  await ui.choose('Add rule')
  const reason = page.getByRole('dialog').getByRole('textbox', { name: 'Reason' })
  await reason.fill('maintenance')
  await page.mouse.click(4, 400)
  expect(await reason.inputValue()).toBe('maintenance')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

const MAIN_STYLES = /\/assets\/index-[^/]*\.css$/
const STYLED = `(async () => {
  while (document.querySelector('link[rel="stylesheet"]').sheet === null) await new Promise(requestAnimationFrame)
  return [...document.styleSheets].every((sheet) => sheet.cssRules.length > 0)
})()`

browserTest('a page whose style sheet was lost on the way asks for it again until it has its look', async () => {
  let lost = 0
  await page.route(MAIN_STYLES, (route) => (lost++ < 2 ? route.abort('connectionreset') : route.continue()))
  const arrived = page.waitForEvent('requestfinished', (request) => MAIN_STYLES.test(request.url()))
  await ui.open('/instances/vm1')
  await ui.heading('vm1')
  await arrived
  expect(await page.evaluate(STYLED)).toBe(true)
  await ui.look('styled-again')
  await page.unroute(MAIN_STYLES)
})

const MAY = ['instances.list', 'instances.query', 'instances.info', 'events.query']

browserTest(
  'what is refused is reached by keyboard and touch and says why, and cards and lists do not ask',
  async () => {
    const users = path.join(cluster.root, 'node1.gantry.local/var/lib/ganeti/rapi/users')
    fs.appendFileSync(users, `clerk secret ${MAY.join(',')}\n`)
    await context.close()
    ;({ context, page, complaints } = await newPage(browser))
    ui = new ConsolePage(cluster, page)
    const refused: string[] = []
    page.on('response', (answer) => {
      if (answer.status() === 403) refused.push(new URL(answer.url()).pathname)
    })
    await ui.open('/instances/vm1')
    await ui.signIn('clerk', 'secret')
    const start = page.getByRole('button', { name: 'Start', exact: true })
    const reason = page.getByRole('tooltip').getByText('You need the permission instances.startup')
    await start.focus()
    await reason.waitFor()
    await ui.look('refused')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await reason.waitFor({ state: 'detached' })
    await start.dispatchEvent('click')
    await reason.waitFor()
    await page.getByRole('button', { name: 'More actions' }).press('Enter')
    const rename = page.getByRole('menuitem', { name: 'Rename …' })
    await rename.getByText('You need the permission instances.rename').waitFor()
    const chosen = rename.and(page.locator(':focus'))
    for (let steps = 0; steps < 60 && (await chosen.count()) === 0; steps++) await page.keyboard.press('ArrowDown')
    expect(await chosen.count()).toBe(1)
    await page.keyboard.press('Enter')
    await ui.look('refused-menu')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('tab', { name: 'Jobs and events' }).click()
    await page.getByText('Not shown. You need the permission locks.list.').waitFor()
    await page.getByText('Not shown. You need the permission jobs.list.').waitFor()
    await ui.open('/')
    for (const [card, reported] of Object.entries(CARDS))
      await page.getByRole('region', { name: card }).getByText(reported).waitFor()
    const events = page.getByRole('region', { name: 'Recent events' })
    await events.getByText(/^Queue rule [0-9a-f-]{36} was removed$/).waitFor()
    expect(await events.getByRole('link', { name: 'Queue rule' }).count()).toBe(0)
    expect(await cutTexts(events.locator('.vt-cell'))).toEqual([])
    await ui.look('refused-overview')
    for (const [address, permission] of Object.entries(LISTS)) {
      await ui.open(address)
      await page.getByText(`Not shown. You need the permission ${permission}.`).waitFor()
    }
    expect(refused).toEqual([])
  },
)

const CARDS = {
  'At a glance': 'Not shown. You need the permission cluster.info.',
  'Capacity and reserve': 'Not shown. You need the permission cluster.info.',
  Health: 'Nodes: Not shown. You need the permission nodes.list.',
  Balance: 'Not shown. You need the permission cluster.balance.',
}

const LISTS = {
  ...{ '/cluster': 'cluster.info', '/storage': 'cluster.info' },
  ...{ '/nodes': 'nodes.list', '/groups': 'groups.list', '/networks': 'networks.list', '/os': 'os.list' },
  ...{ '/exports': 'exports.list', '/rules': 'filter.list', '/tags': 'tags.get', '/locks': 'locks.list' },
  '/access': 'tokens.list',
}

browserTest('no page complained', () => {
  expect(complaints).toEqual([])
})
