// A real browser for tests of the console: Debian's Chromium, driven by playwright-core.
import * as fs from 'node:fs'
import * as path from 'node:path'
import axe from 'axe-core'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { chromiumPresent } from './chromium'
import { qemuPresent, testWith } from './needs'

export { launchBrowser } from './chromium'

export const browserPresent = qemuPresent && chromiumPresent
export const browserTest = testWith(browserPresent, 'chromium qemu-system-x86')

/** The time limit for everything on a page. It only ends a test that hangs. */
const PATIENCE_MS = 120_000

export async function newPage(
  browser: Browser,
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: WIDE, reducedMotion: 'reduce' })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  // Records what the page's policy refuses, and errors that its scripts did not handle. The page itself shows refusals of the server.
  page.on('console', (message) => {
    if (message.type() === 'error' && !/^Failed to load resource/.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return { context, page, complaints }
}

/**
 * The findings of axe-core, and unreadable values, one on each line: of the page as it is, of its colours when they are dark, and of
 * everything in a narrow window, where also nothing may reach beyond its card.
 */
export async function findings(page: Page): Promise<string[]> {
  const size = page.viewportSize() ?? WIDE
  const found = await violations(page, '')
  const displayed = await page.evaluate<string>('document.body.innerText')
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await violations(page, 'dark: ', { runOnly: ['color-contrast'] })
  await page.setViewportSize(NARROW)
  const narrow = [...(await violations(page, 'dark and narrow: ')), ...(await page.evaluate<string[]>(BEYOND))]
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(size)
  return [...found, ...dark, ...narrow, ...displayed.split('\n').filter((line) => UNREADABLE.test(line))]
}

/** What fades in or out while it is looked at is no finding; what is still there at a second look is one. */
async function violations(page: Page, where: string, options: axe.RunOptions = {}): Promise<string[]> {
  const once = await violationsNow(page, where, options)
  if (once.length === 0) return once
  const again = new Set(await violationsNow(page, where, options))
  return once.filter((line) => again.has(line))
}

async function violationsNow(page: Page, where: string, options: axe.RunOptions): Promise<string[]> {
  await page.evaluate(SETTLED)
  await page.evaluate(`if (window.axe === undefined) { ${axe.source} }`)
  const requested = JSON.stringify({ resultTypes: ['violations'], ...options })
  const reported = await page.evaluate<axe.AxeResults>(`axe.run(${requested})`)
  return reported.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${where}${id}: ${html.slice(0, 160)}`))
}

/**
 * A page follows its colours and its size with the next frame. A label that is still fading in has too little contrast, and so has one whose
 * button waits for an answer. What turns until an answer comes has no end, and an animation of something that is not shown may have none.
 */
const FADING_MS_MAX = 20_000
const SETTLED = `(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const isFading = (one) => one.playState === 'running' && one.effect.getComputedTiming().endTime !== Infinity
  const end_ms = performance.now() + ${FADING_MS_MAX}
  await frame()
  await frame()
  const isWaiting = () => document.querySelector('button[data-loading]') !== null || document.getAnimations().some(isFading)
  while (isWaiting() && performance.now() < end_ms) await frame()
})()`

/**
 * Texts, buttons and fields that reach beyond the right edge of their card, their dialog or the window. What is cut off there, scrolls there or
 * floats above it is left out.
 */
const BEYOND = `(() => {
  const isOwn = (element, frame) => {
    for (let one = element; one !== frame; one = one.parentElement) {
      const { overflowX, position } = getComputedStyle(one)
      if (overflowX !== 'visible' || position === 'absolute' || position === 'fixed') return false
    }
    return true
  }
  const boxOf = (node) => {
    if (node instanceof Element) return node.getBoundingClientRect()
    const range = document.createRange()
    range.selectNodeContents(node)
    return range.getBoundingClientRect()
  }
  const beyond = (frame, end) => {
    const texts = []
    const all = document.createTreeWalker(frame, NodeFilter.SHOW_TEXT)
    while (all.nextNode()) texts.push(all.currentNode)
    const found = [...texts, ...frame.querySelectorAll('button, input, textarea, table')].filter((node) => {
      const { width, right } = boxOf(node)
      return width > 0 && right > end + 1 && isOwn(node instanceof Element ? node : node.parentElement, frame)
    })
    return found.map((node) => {
      const what = (node.textContent || node.outerHTML).trim().slice(0, 80)
      return 'narrow: ' + what + ': reaches ' + Math.round(boxOf(node).right - end) + ' px too far'
    })
  }
  const frames = [...document.querySelectorAll('.card, [role="dialog"]')]
  return [
    ...frames.flatMap((frame) => beyond(frame, frame.getBoundingClientRect().right)),
    ...beyond(document.body, document.documentElement.clientWidth),
  ]
})()`

/** The texts of these cells that their cells cut off. */
export const cutTexts = (cells: Locator): Promise<string[]> =>
  cells.evaluateAll((all) =>
    all.flatMap((one) =>
      Number(Reflect.get(one, 'scrollWidth')) > Number(Reflect.get(one, 'clientWidth'))
        ? [String(Reflect.get(one, 'textContent'))]
        : [],
    ),
  )

/** What JavaScript prints if a page lacks a value, or has a value of another kind than it expects. */
const UNREADABLE = /\b(NaN|undefined)\b|\[object |Invalid Date/

const WIDE = { width: 1440, height: 900 }
const NARROW = { width: 390, height: 844 }

/** Takes pictures of a page, wide and narrow, light and dark, into the folder that SCREENSHOTS names, if it names one. */
export async function takePictures(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  fs.mkdirSync(folder, { recursive: true })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const size of [WIDE, NARROW]) {
      await page.setViewportSize(size)
      await page.evaluate(SETTLED)
      await page.screenshot({ path: path.join(folder, `${name}-${size.width}-${colorScheme}.png`) })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(WIDE)
}
