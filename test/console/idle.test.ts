// A page that nobody touches, while the cluster is busy: its session ends when its time is over.
import type { Browser, Page } from 'playwright-core'
import { systemClock } from '../../src/lib/clock'
import { SESSION_IDLE_S } from '../../src/model/limits/logins'
import { RealMaster } from '../processes/daemons/rapi/real-master'
import { newPage } from '../support/browser'
import { chromiumPresent, launchBrowser } from '../support/chromium'
import { ConsolePage } from '../support/console-page'
import { testWith } from '../support/needs'

let master: RealMaster
let browser: Browser
let page: Page
let ui: ConsolePage
let passed_ms = 0

beforeAll(async () => {
  if (!chromiumPresent) return
  const clock = { ...systemClock, monotonic_ms: () => systemClock.monotonic_ms() + passed_ms }
  master = await RealMaster.start({ clock })
  browser = await launchBrowser()
  ;({ page } = await newPage(browser))
  ui = new ConsolePage({ url: `https://127.0.0.1:${String(master.harness.rapi.addresses[0]?.port)}` }, page)
  await ui.open('/jobs')
  await ui.signIn('admin', 'secret')
  await page.getByText('Live', { exact: true }).waitFor()
})

afterAll(async () => {
  if (!chromiumPresent) return
  await browser?.close()
  await master?.stop()
})

/** The page shows a job that somebody else has submitted. */
async function follows(): Promise<void> {
  const id = await submit()
  await page.getByRole('link', { name: String(id), exact: true }).waitFor()
}

async function submit(): Promise<unknown> {
  const ops = [{ OP_ID: 'OP_TEST_DELAY', duration: 0, on_master: false, on_nodes: [] }]
  const { status, json } = await master.ask('POST', '/3/jobs', { body: { ops } })
  expect(status).toBe(202)
  return json['id']
}

/** Twice as long is too long, and the time that the test itself takes does not matter. */
const MOST_OF_IT = 0.6 * SESSION_IDLE_S

const pass = (time_s: number) => void (passed_ms += time_s * 1000)

testWith(chromiumPresent, 'chromium')(
  'a session is kept by who touches the page, and by nothing that happens',
  async () => {
    await follows()
    pass(MOST_OF_IT)
    await follows()
    const used = page.waitForRequest((request) => request.headers()['x-unattended'] === undefined)
    await page.keyboard.press('Shift')
    await follows()
    await used
    pass(MOST_OF_IT)
    await follows()
    pass(MOST_OF_IT)
    await submit()
    await page.getByText('Your session has ended').waitFor()
  },
)
