// The console in a real browser, with 10,000 instances on 1,000 simulated nodes: until its table can be used, how it scrolls, and what
// events at a high rate do to it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { systemClock } from '../../src/lib/clock'
import { systemRandom } from '../../src/lib/random'
import { openWconfd } from '../../src/rpc/wconfd/client'
import { chromiumPresent, launchBrowser } from '../support/chromium'
import type { BenchCluster } from './cluster'
import { change } from './changes'
import { LARGE } from './large'
import { cpuBelow } from './processes'
import type { Report } from './table'

const EVENTS_PER_SECOND = 200
const SCROLL_S = 5
/** In one picture, as a wheel or a touchpad moves it. */
const SCROLL_PX = 60
const BROWSER = '/usr/lib/chromium/'
const PATIENCE_MS = 120_000

export async function measureConsole(
  cluster: BenchCluster,
  instances: readonly string[],
  quick: boolean,
  report: Report,
): Promise<void> {
  if (!chromiumPresent) return console.error('  the console is left out: install chromium')
  const browser = await launchBrowser()
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1440, height: 900 } })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    await signIn(page, cluster)
    await measureFirstLoad(page, cluster, report)
    await measureScrolling(page, report, 'scrolling')
    await measurePicture(page, cluster, report)
    await page.goto(urlOf(cluster, '/instances'))
    await page.locator('.vt-row').nth(1).waitFor()
    const changing = { instances, seconds: quick ? 60 : 600 }
    await measureEvents(page, cluster, changing, report)
    await loadAll(page, report)
    await measureEvents(page, cluster, { ...changing, where: ', all rows loaded' }, report)
  } finally {
    await browser.close()
  }
}

const urlOf = ({ rapi: { host, port } }: BenchCluster, where: string): string => `https://${host}:${port}/ui${where}`

async function signIn(page: Page, cluster: BenchCluster): Promise<void> {
  await page.goto(urlOf(cluster, '/jobs'))
  await page.getByLabel('User').fill(cluster.rapi.user)
  await page.getByRole('textbox', { name: 'Password' }).fill(cluster.rapi.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Jobs', exact: true }).waitFor()
}

async function measureFirstLoad(page: Page, cluster: BenchCluster, report: Report): Promise<void> {
  const index = fs.readFileSync(path.join(__dirname, '../../ui/dist/index.html'), 'utf8')
  const first = [...index.matchAll(/\/ui\/(assets\/[^"]+\.js)"/g)].map(([, name = '']) => name)
  const size = (name: string) => fs.statSync(path.join(__dirname, '../../ui/dist', `${name}.br`)).size / 1024
  report(
    'console: first script, compressed',
    first.reduce((sum, name) => sum + size(name), 0),
    'KiB',
  )
  // The first time, the daemons still get to know the cluster, and the browser the scripts.
  for (const [label, where] of [
    ['first', '/instances'],
    ['again', '/instances?sort=-name'],
  ] as const) {
    const begun = performance.now()
    await page.goto(urlOf(cluster, where))
    await page
      .getByRole('link', { name: /^inst\d+\.gnt\.example$/ })
      .first()
      .waitFor()
    report(`console: table of instances can be used, ${label}`, performance.now() - begun, 'ms')
  }
  const scripts_kib = await page.evaluate<number>(`
    performance.getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1024
  `)
  report('console: all scripts of that page, compressed', scripts_kib, 'KiB')
}

/** All nodes as small tiles, and one group with its instances as dots. */
async function measurePicture(page: Page, cluster: BenchCluster, report: Report): Promise<void> {
  const { nodes } = LARGE
  for (const [label, where, last, at] of [
    [`picture of ${nodes} nodes`, '/topology', '.tile', nodes - 1],
    ['picture of a group with its instances', '/topology?group=default', '.tile-dots', 0],
  ] as const) {
    const begun = performance.now()
    await page.goto(urlOf(cluster, where))
    await page.locator(last).nth(at).waitFor({ state: 'attached' })
    report(`console: ${label}`, performance.now() - begun, 'ms')
  }
}

interface Scrolled {
  readonly frames: number
  readonly took_ms: number
  readonly long: readonly number[]
}

/** Text, because it runs in the browser. */
const SCROLL = `(async () => {
  const long = []
  const observer = new PerformanceObserver((list) => long.push(...list.getEntries().map(({ duration }) => duration)))
  observer.observe({ type: 'longtask' })
  const box = document.querySelector('.vt-scroll')
  const begun = performance.now()
  let frames = 0
  while (performance.now() < begun + ${SCROLL_S * 1000}) {
    await new Promise(requestAnimationFrame)
    box.scrollTop += ${SCROLL_PX}
    frames++
  }
  observer.disconnect()
  return { frames, took_ms: performance.now() - begun, long }
})()`

async function measureScrolling(page: Page, report: Report, label: string): Promise<void> {
  const before_ms = cpuBelow(process.pid, BROWSER)
  const { frames, took_ms, long } = await page.evaluate<Scrolled>(SCROLL)
  const used_ms = cpuBelow(process.pid, BROWSER) - before_ms
  report(`console: pictures while ${label}`, (frames / took_ms) * 1000, '/s')
  // The cluster and whoever changes it share the processors with the browser here.
  report(`console: processor time of the browser for each picture while ${label}`, used_ms / frames, 'ms')
  report(`console: long tasks while ${label}`, long.length, '')
  report(`console: longest task while ${label}, 0 below 50 ms`, Math.max(0, ...long), 'ms')
}

/** Text, because it runs in the browser. The table tells its number of rows only when it has all. */
const LOAD_ALL = `(async () => {
  const [box, table] = [document.querySelector('.vt-scroll'), document.querySelector('.vt-scroll [role="table"]')]
  while (table.getAttribute('aria-rowcount') === '-1') {
    box.scrollTop = box.scrollHeight
    await new Promise(requestAnimationFrame)
  }
  box.scrollTop = 0
  return Number(table.getAttribute('aria-rowcount')) - 1
})()`

async function loadAll(page: Page, report: Report): Promise<void> {
  const begun = performance.now()
  const rows = await page.evaluate<number>(LOAD_ALL)
  report(`console: all ${rows} rows loaded by scrolling to the end`, performance.now() - begun, 'ms')
}

interface Changing {
  readonly instances: readonly string[]
  readonly seconds: number
  /** What the page shows, if it is not the first rows alone. */
  readonly where?: string
}

async function measureEvents(page: Page, cluster: BenchCluster, changing: Changing, report: Report): Promise<void> {
  const { seconds, where = '' } = changing
  // The page keeps things of its first events that it needs for the others.
  await sendChanges(cluster, { ...changing, seconds: 5 })
  report(`console: memory before ${seconds} s of events${where}`, await heapKib(page), 'KiB')
  const begun = performance.now()
  const sending = sendChanges(cluster, changing)
  await measureScrolling(page, report, `scrolling with ${EVENTS_PER_SECOND} events/s${where}`)
  // If it grows without end, it grows as much again until the end.
  await setTimeout(begun + (seconds / 2) * 1000 - performance.now())
  report(`console: memory after ${seconds / 2} s of events${where}`, await heapKib(page), 'KiB')
  report(`console: changes that were sent${where}`, await sending, '/s')
  await page.getByText('Live', { exact: true }).waitFor()
  report(`console: memory after ${seconds} s of events${where}`, await heapKib(page), 'KiB')
}

/** The memory that is really needed. */
async function heapKib(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable')
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  await devtools.detach()
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1024
}

/** Changes instances as job processes do, at the rate that is wanted; answers the rate that it was. */
async function sendChanges({ luxiSocket }: BenchCluster, { instances, seconds }: Changing): Promise<number> {
  const wconfd = openWconfd({
    clock: systemClock,
    random: systemRandom,
    path: path.join(path.dirname(luxiSocket), 'ganeti-wconfd'),
  })
  const begun = performance.now()
  const answers: Promise<unknown>[] = []
  for (let n = 0; n < seconds * EVENTS_PER_SECOND; n++) {
    const wait_ms = begun + (n * 1000) / EVENTS_PER_SECOND - performance.now()
    if (wait_ms > 0) await setTimeout(wait_ms)
    answers.push(
      wconfd.gantryChange([1, '', process.pid], null, [change(instances[(n * 7919) % instances.length] ?? '', n)]),
    )
    // No more than a second's worth is on the way.
    if (answers.length > EVENTS_PER_SECOND) await answers.shift()
  }
  await Promise.all(answers)
  const took_ms = performance.now() - begun
  wconfd.close()
  return (seconds * EVENTS_PER_SECOND * 1000) / took_ms
}
