// Debian's Chromium, for tests and for the benchmark.
import * as fs from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'

export const chromiumPresent = fs.existsSync(CHROMIUM)

/** Runs without a sandbox, because Chromium refuses its sandbox to root. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
