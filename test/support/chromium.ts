// Debian's Chromium, for tests and for the benchmark.
import * as fs from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'

export const chromiumPresent = fs.existsSync(CHROMIUM)

/** The cluster has made its certificate itself; a root user's browser has no sandbox. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] })
