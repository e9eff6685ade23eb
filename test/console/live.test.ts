// How the pages of a browser follow the cluster together: over one stream, also when pages are closed, the line breaks, the server is
// stopped, and sessions end.
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumPresent, launchBrowser } from '../support/chromium'
import { newPage } from '../support/browser'
import { ConsolePage } from '../support/console-page'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { Line } from '../support/line'
import { testWith } from '../support/needs'

const browserTest = testWith(chromiumPresent, 'chromium')

let cluster: EmbeddedCluster
let browser: Browser
let line: Line
let context: BrowserContext
let page: Page
let ui: ConsolePage
/** The cursors of the streams that pages of the browser have asked for; none is the text of one that begins now. */
let streams: string[]
let tags = 0

beforeAll(async () => {
  if (!chromiumPresent) return
  cluster = await startCluster(['--hypervisor', 'fake'])
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'web1', mode: 'create', disk_template: 'diskless' },
    ...{ disks: [], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: false },
    ...{ pnode: 'node1.gantry.local' },
  })
  expect(made).toMatchObject({ status: 'success' })
  const users = path.join(cluster.root, 'node1.gantry.local/var/lib/ganeti/rapi/users')
  fs.appendFileSync(users, 'reader secret @readonly\n')
  line = await Line.to(cluster.url)
  browser = await launchBrowser()
})

afterAll(async () => {
  if (!chromiumPresent) return
  await browser?.close()
  await line?.close()
  await cluster?.remove()
})

beforeEach(async () => {
  if (!chromiumPresent) return
  await anotherBrowser()
  await ui.open('/instances/web1')
  await ui.signIn('admin', cluster.password)
  await live()
})

afterEach(async () => {
  line?.mend()
  await context?.close()
})

async function anotherBrowser(): Promise<void> {
  ;({ context, page } = await newPage(browser))
  ui = new ConsolePage(line, page)
  const observed: string[] = (streams = [])
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/3/events') observed.push(request.headers()['last-event-id'] ?? 'none')
  })
}

const live = (on = page) => on.getByText('Live', { exact: true }).waitFor()
const lost = (on = page) => on.getByText(/^The connection is lost/).waitFor()
const tagOn = (on: Page, tag: string) => on.locator('.tag', { hasText: tag }).waitFor()

async function another(address: string): Promise<Page> {
  const opened = await context.newPage()
  await opened.goto(`${line.url}/ui${address}`)
  return opened
}

/** Something that pages of the instance show. */
async function happen(): Promise<string> {
  const tag = `tag-${++tags}`
  const { code, stderr } = await cluster.gnt('instance', 'add-tags', 'web1', tag)
  expect([code, stderr]).toEqual([0, ''])
  return tag
}

async function account(item: string): Promise<void> {
  await page.getByRole('button', { name: /^Signed in as/ }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

browserTest('many pages and consoles have one stream, and each follows; one that is closed hands over', async () => {
  const others: Page[] = []
  for (let n = 0; n < 6; n++) others.push(await another('/instances/web1'))
  for (let n = 0; n < 3; n++) await another('/instances/web1/console?bare=1')
  for (const one of others) await live(one)
  const first = await happen()
  for (const one of [page, ...others]) await tagOn(one, first)
  expect(streams).toEqual(['none'])
  await page.close()
  const second = await happen()
  for (const one of others) await tagOn(one, second)
  expect(streams).toEqual(['none', expect.stringMatching(/-\d+$/)])
})

browserTest(
  'a lost connection is shown; what happened meanwhile is there when it is back, from where it broke',
  async () => {
    const overview = await another('/')
    const events = overview
      .getByRole('region', { name: 'Recent events' })
      .or(overview.getByRole('group', { name: 'Recent events' }))
    await events.getByText('web1').first().waitFor()
    line.cut()
    await lost()
    await lost(overview)
    await ui.look('lost')
    const tag = await happen()
    line.mend()
    await live()
    await tagOn(page, tag)
    await live(overview)
    expect(await page.getByText(/^The connection is lost/).count()).toBe(0)
    expect(streams.slice(1).every((cursor) => cursor !== 'none')).toBe(true)
    expect(await overview.getByRole('alert').count()).toBe(0)
  },
)

browserTest('after the server was stopped and is back, a session begins over the page, which follows on', async () => {
  await cluster.stop()
  await lost()
  await cluster.restart()
  await page.getByText('Your session has ended').waitFor()
  const tag = await happen()
  await ui.signIn('admin', cluster.password)
  await live()
  await tagOn(page, tag)
  await tagOn(page, await happen())
})

browserTest('nobody signs out unawares while the server is away', async () => {
  line.cut()
  await account('Sign out')
  const dialog = page.getByRole('dialog', { name: 'You are still signed in' })
  await dialog.getByRole('alert').waitFor()
  await ui.look('still-signed-in')
  line.mend()
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  expect(await context.cookies()).toEqual([])
})

browserTest('signing out everywhere ends the sessions of all browsers of the user', async () => {
  const [first, firstContext] = [page, context]
  await anotherBrowser()
  await ui.open('/instances/web1')
  await ui.signIn('admin', cluster.password)
  await live()
  await account('Sign out everywhere')
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await first.getByText('Your session has ended').waitFor()
  await firstContext.close()
})

browserTest('another user who signs in over a page finds nothing that the first one saw or typed there', async () => {
  await ui.choose('Rename')
  await page.getByRole('dialog').getByRole('textbox').first().fill('typed-by-admin')
  expect((await cluster.rapi('DELETE', '/3/session?everywhere=true')).status).toBe(204)
  await page.getByText('Your session has ended').waitFor()
  const again = page.waitForEvent('framenavigated')
  await ui.signIn('reader', 'secret')
  await again
  await page.getByRole('button', { name: 'Signed in as reader' }).waitFor()
  await live()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

browserTest('who may not see events is told so, also on a small screen', async () => {
  const { body } = await cluster.rapi('POST', '/3/tokens', { name: 'blind', permissions: ['instances.*'] })
  await context.close()
  await anotherBrowser()
  await ui.open('/instances/web1')
  await ui.signInWithToken((body as { secret: string }).secret)
  await page.getByText('Not live: you may not see events').waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByText('Not live', { exact: true }).waitFor()
  await ui.look('not-live')
})

browserTest(
  'the mouse over a link does no harm while the server is away, and the page that is asked for comes later',
  async () => {
    line.cut()
    await lost()
    const locks = page.getByRole('link', { name: 'Locks', exact: true })
    const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/assets/locks-page'))
    await locks.hover()
    await failed
    await ui.heading('web1')
    await locks.click()
    await page.getByText('The files of this page could not be loaded').waitFor()
    await lost()
    await ui.look('page-not-loaded')
    line.mend()
    await page.getByRole('button', { name: 'Try again' }).click()
    await ui.heading('Locks')
  },
)

browserTest(
  'the dialog of a disk that is removed meanwhile goes with it, and does not become that of the next disk',
  async () => {
    const made = await cluster.run({
      ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'disks1', mode: 'create', disk_template: 'file' },
      ...{
        disks: [
          { size: 1, name: 'first' },
          { size: 1, name: 'second' },
        ],
        nics: [],
        os_type: 'gantry-tiny',
      },
      ...{ beparams: { memory: 64 }, no_install: true, start: false, pnode: 'node1.gantry.local' },
    })
    expect(made).toMatchObject({ status: 'success' })
    await ui.open('/instances/disks1')
    await live()
    await page.getByRole('button', { name: 'Change disk 0', exact: true }).click()
    await page.getByRole('dialog').getByText('0 (first)').waitFor()
    const disks = [['remove', 0, {}]]
    const removed = await cluster.run({ OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'disks1', disks })
    expect(removed).toMatchObject({ status: 'success' })
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('cell', { name: 'second' }).waitFor()
  },
)

browserTest('a filter follows the address, and the way back leads back', async () => {
  await ui.open('/nodes?q=node2')
  const filter = page.getByRole('searchbox', { name: 'Filter by name' })
  expect(await filter.inputValue()).toBe('node2')
  await page.getByRole('link', { name: 'Nodes', exact: true }).click()
  await page.getByRole('link', { name: 'node1.gantry.local' }).waitFor()
  expect(await filter.inputValue()).toBe('')
  await filter.fill('node3')
  await page.waitForURL(/q=node3/)
})

/** A job that logs one message after the other, each when it is told to. */
async function talkingJob(count: number) {
  const log_messages = Array.from({ length: count }, (_, index) => `number ${index + 1}.`)
  const ops = [{ OP_ID: 'OP_TEST_JQUEUE', log_messages }]
  const { body } = await cluster.rapi('POST', '/3/jobs', { ops })
  const { id } = body as { id: number }
  let met = 0
  return {
    id,
    /** Meets it at its next socket. */
    async goOn(): Promise<void> {
      for (;;) {
        const answer = await cluster.rapi('GET', `/3/jobs/${id}`)
        const { ops: steps } = answer.body as { ops: { log: { type: string; message: unknown[] }[] }[] }
        const sockets = steps.flatMap(({ log }) => log).filter(({ type }) => type === 'jqueue-test')
        const [socket] = sockets[met]?.message ?? []
        if (typeof socket !== 'string') continue
        met++
        const line = net.connect(socket)
        line.write('go on')
        await once(line, 'close')
        return
      }
    },
  }
}

browserTest(
  'a log grows by its events, without asking for the job, and its end stays in view unless somebody reads',
  async () => {
    const job = await talkingJob(60)
    await ui.open(`/jobs/${job.id}`)
    const log = page.getByLabel(/^Log: 1\./)
    // The scrolled text, as its page has it.
    const read = (what: 'scrollTop' | 'clientHeight' | 'scrollHeight') =>
      log.evaluate((text, key) => Number(Reflect.get(text, key)), what)
    const top = () => read('scrollTop')
    const atEnd = async () => (await read('scrollHeight')) - (await top()) - (await read('clientHeight')) < 2
    const scroll = async (to: number) => {
      await log.evaluate((text, place) => Reflect.set(text, 'scrollTop', place), to)
      // The page has heard of it before it shows the next line.
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    }
    let said = 0
    const next = async () => {
      await job.goOn()
      await log.filter({ hasText: `TESTMSG=number ${++said}.` }).waitFor()
    }
    await next()
    await live()
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    while (said < 50) await next()
    expect(await atEnd()).toBe(true)
    expect(await top()).toBeGreaterThan(0)
    expect(requested.filter((path) => path.startsWith('/3/jobs'))).toEqual([])
    await ui.look('growing-log')
    await scroll(0)
    while (said < 55) await next()
    expect(await top()).toBe(0)
    await scroll(await read('scrollHeight'))
    while (said < 60) await next()
    expect(await atEnd()).toBe(true)
    await job.goOn()
    await page.getByText('Done', { exact: true }).first().waitFor()
  },
)

browserTest(
  'who waits for a lock is found among any number of them, and so is who has that of an instance',
  async () => {
    const holder = await talkingJob(1)
    await ui.open(`/jobs/${holder.id}`)
    await page
      .getByLabel(/^Log: 1\./)
      .filter({ hasText: 'Executing' })
      .waitFor()
    const ops = [{ OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: 'web1' }]
    const { body } = await cluster.rapi('POST', '/3/jobs', { ops })
    const { id } = body as { id: number }
    const link = (job: number) => page.getByRole('link', { name: `Job ${job}`, exact: true })
    await ui.open('/locks')
    const lockOf = (name: RegExp) => page.getByRole('row', { name })
    await lockOf(/^cluster\/BGL/).waitFor()
    await page.getByRole('switch', { name: 'Only those that somebody waits for' }).click()
    await lockOf(/^cluster\/BGL/).waitFor({ state: 'detached' })
    await lockOf(/^node\/node\d\.gantry\.local/)
      .filter({ has: link(holder.id) })
      .filter({ has: link(id) })
      .waitFor()
    await ui.look('locks-waited')
    await ui.open(`/jobs/${id}`)
    await page
      .getByRole('region', { name: 'Locks' })
      .filter({ has: link(holder.id) })
      .waitFor()
    await ui.open('/instances/web1?tab=activity')
    const lock = page.getByRole('region', { name: 'Lock', exact: true })
    await lock
      .filter({ hasText: `Job ${id} has it (Exclusive)` })
      .filter({ has: link(id) })
      .waitFor()
    await ui.look('instance-lock')
    await holder.goOn()
    await holder.goOn()
    await lock.getByText('No job holds the lock or waits for it.').waitFor()
  },
)
