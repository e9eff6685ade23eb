// Consoles of real virtual machines in a real browser: typed on, looked at, and followed from node to node.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { browserPresent, browserTest, findings, launchBrowser, newPage, takePictures } from '../support/browser'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { eventually, keysOfGuest } from '../support/hypervisor'

let cluster: EmbeddedCluster
let browser: Browser
let context: BrowserContext
let page: Page
let complaints: string[]

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'kvm'])
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'web1', mode: 'create', disk_template: 'sharedfile' },
    ...{ disks: [{ size: 16 }], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: true },
    ...{ pnode: 'node1.gantry.local', hypervisor: 'kvm', hvparams: { vnc_bind_address: '127.0.0.1' } },
  })
  expect(made.status).toBe('success')
  browser = await launchBrowser()
  ;({ context, page, complaints } = await newPage(browser))
})

afterAll(async () => {
  if (!browserPresent) return
  await browser?.close()
  await cluster?.remove()
})

const open = (to: Page, address: string) => to.goto(`${cluster.url}/ui${address}`)
const serialOf = (on: Page) => on.getByRole('region', { name: 'Serial console of web1' })
const screenOf = (on: Page) => on.getByRole('region', { name: 'Screen of web1', exact: true })
const isOn = (region: ReturnType<typeof serialOf>, node: string) =>
  region.getByText(`Connected, on ${node}.gantry.local`).waitFor()

/** The terminal shows it, or will. */
const says = (on: Page, text: string | RegExp) => serialOf(on).locator('.xterm-rows').getByText(text).first().waitFor()

/** The guest repeats what is typed, among the seconds that it counts; so each key is typed once. */
async function type(on: Page, key: string): Promise<void> {
  await serialOf(on).locator('.xterm-screen').click()
  await on.keyboard.press(key)
  await says(on, new RegExp(key))
}

const SIZE_OF_PICTURE = `(() => {
  const canvas = document.querySelector('[aria-label="Screen of web1"] canvas')
  if (canvas === null || canvas.width === 0 || canvas.height === 0) return undefined
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  return new Set(new Uint32Array(data.buffer)).size > 1 ? [width, height] : undefined
})()`

/** Resolves to the size of the screen's picture when it is one: not all of its points are alike. */
async function picture(on: Page): Promise<unknown> {
  // The page's policy lets nothing ask from within it again and again.
  return eventually(
    () => on.evaluate(SIZE_OF_PICTURE),
    60,
    () => 'a picture',
  )
}

async function signIn(on: Page): Promise<void> {
  await on.getByLabel('User').fill('admin')
  await on.getByRole('textbox', { name: 'Password' }).fill(cluster.password)
  await on.getByRole('button', { name: 'Sign in' }).click()
}

browserTest('the serial console shows what the instance says, and takes what is typed', async () => {
  await open(page, '/instances/web1')
  await signIn(page)
  await page.getByRole('link', { name: 'Console', exact: true }).click()
  await isOn(serialOf(page), 'node1')
  await says(page, /T\d{4}/)
  await type(page, 'k')
  await takePictures(page, 'console-serial')
  expect(await findings(page)).toEqual([])
})

browserTest('the screen shows a picture of the size that the guest has set, and can be saved', async () => {
  await page.getByRole('tab', { name: 'Screen (VNC)' }).click()
  await isOn(screenOf(page), 'node1')
  // Text of a BIOS.
  expect(await picture(page)).toEqual([720, 400])
  await takePictures(page, 'console-screen')
  expect(await findings(page)).toEqual([])
  const saving = page.waitForEvent('download')
  await screenOf(page).getByRole('button', { name: 'Save a picture' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toBe('web1-screen.png')
  expect(
    fs
      .readFileSync(await saved.path())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG')
})

browserTest('the screen fills the whole display, and leaves it again', async () => {
  const whole = () => page.evaluate<string | null>('document.fullscreenElement?.getAttribute("aria-label") ?? null')
  await screenOf(page).getByRole('button', { name: 'Full screen' }).click()
  await eventually(
    async () => (await whole()) ?? undefined,
    60,
    () => 'the whole display',
  )
  expect(await whole()).toBe('Screen of web1')
  await screenOf(page).getByRole('button', { name: 'Full screen' }).click()
  await eventually(
    async () => (await whole()) === null || undefined,
    60,
    () => 'the page',
  )
})

browserTest('a file for a SPICE viewer is offered', async () => {
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'spice1', mode: 'create', disk_template: 'diskless', disks: [] },
    ...{ nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: false, pnode: 'node1.gantry.local' },
    ...{ hypervisor: 'kvm', hvparams: { spice_bind: '127.0.0.1' } },
  })
  expect(made).toMatchObject({ status: 'success' })
  const other = await context.newPage()
  await open(other, '/instances/spice1/console')
  const saving = other.waitForEvent('download')
  await other.getByRole('button', { name: 'SPICE' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toBe('spice1.vv')
  expect(fs.readFileSync(await saved.path(), 'utf8')).toMatch(
    /^\[virt-viewer\]\ntype=spice\ntitle=spice1\nhost=\S+\nport=\d+\n/,
  )
  await takePictures(other, 'console-spice')
  expect(await findings(other)).toEqual([])
  await other.close()
})

browserTest('keys of the menu and pasted text reach the instance', async () => {
  await page.getByRole('tab', { name: 'Serial' }).click()
  await serialOf(page).getByRole('button', { name: 'Keys' }).click()
  await takePictures(page, 'console-keys')
  await serialOf(page).getByRole('menuitem', { name: 'Esc', exact: true }).click()
  await serialOf(page).getByRole('button', { name: 'Paste' }).click()
  await page.getByRole('dialog').getByLabel('Text').fill('vgz')
  await takePictures(page, 'console-paste')
  expect(await findings(page)).toEqual([])
  await page.getByRole('button', { name: 'Type it' }).click()
  await says(page, /z/)
})

browserTest('a second window sees the same, from before it was opened, and may look only', async () => {
  const [, before = ''] =
    /(T\d{4})(?!.*T\d)/.exec((await serialOf(page).locator('.xterm-rows').textContent()) ?? '') ?? []
  const other = await context.newPage()
  await open(other, '/instances/web1/console?bare=1')
  await isOn(serialOf(other), 'node1')
  await says(other, before)
  await type(page, 'j')
  await says(other, /j/)
  await takePictures(other, 'console-window')
  await other.getByRole('switch', { name: 'View only' }).click()
  await isOn(serialOf(other), 'node1')
  await serialOf(other).locator('.xterm-screen').click()
  await other.keyboard.press('w')
  await type(page, 'x')
  await says(other, /x/)
  expect(await serialOf(page).locator('.xterm-rows').textContent()).not.toContain('w')
  expect(await serialOf(other).getByRole('button', { name: 'Paste' }).isDisabled()).toBe(true)
  await other.close()
})

browserTest('both consoles go on at another node after a live migration, without signing in again', async () => {
  const requested: string[] = []
  page.on('request', (request) => void requested.push(`${request.method()} ${new URL(request.url()).pathname}`))
  const move = { OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'web1', target_node: 'node2.gantry.local' }
  expect((await cluster.run(move)).status).toBe('success')
  await isOn(serialOf(page), 'node2')
  await type(page, 'u')
  await page.getByRole('tab', { name: 'Screen (VNC)' }).click()
  await isOn(screenOf(page), 'node2')
  await picture(page)
  await page.getByRole('tab', { name: 'Serial' }).click()
  expect(requested.filter((request) => /session|ticket/.test(request))).toEqual([])
})

browserTest('a stopped instance is waited for, and shown again from its first word', async () => {
  expect((await cluster.run({ OP_ID: 'OP_INSTANCE_SHUTDOWN', instance_name: 'web1', timeout: 0 })).status).toBe(
    'success',
  )
  await serialOf(page).getByText('web1 does not run on node2.gantry.local').waitFor()
  await takePictures(page, 'console-waiting')
  expect(await findings(page)).toEqual([])
  expect(await cluster.run({ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: 'web1' })).toMatchObject({
    status: 'success',
  })
  await isOn(serialOf(page), 'node2')
  await says(page, /READY/)
  await type(page, 'h')
})

/** The guest has got these keys through its screen, and no others since its start. */
async function hasKeys(...keys: string[]): Promise<void> {
  const monitor = path.join(cluster.root, 'node2.gantry.local/var/run/ganeti/kvm-hypervisor/ctrl/web1.qmp')
  let reported: string[] = []
  await eventually(
    async () => {
      reported = await keysOfGuest(monitor)
      return reported.length >= keys.length && (keys.length > 0 || reported.length === 0) ? reported : undefined
    },
    60,
    () => `the keys ${JSON.stringify(keys)}, but ${JSON.stringify(reported)}`,
  )
  expect(reported).toEqual(keys)
}

async function fromKeys(on: Page, label: string): Promise<void> {
  await screenOf(on).getByRole('button', { name: 'Keys' }).click()
  await screenOf(on).getByRole('menuitem', { name: label, exact: true }).click()
}

browserTest(
  'keys that are typed, chosen or pasted at the screen reach the guest, and Ctrl-Alt-Del restarts it',
  async () => {
    await page.getByRole('tab', { name: 'Screen (VNC)' }).click()
    await isOn(screenOf(page), 'node2')
    await picture(page)
    await screenOf(page).locator('canvas').click()
    await page.keyboard.press('k')
    await hasKeys('k')
    await fromKeys(page, 'F5')
    await hasKeys('k', 'key 63')
    await screenOf(page).getByRole('button', { name: 'Paste' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The text is typed key by key').waitFor()
    await dialog.getByLabel('Text').fill('Az!')
    await dialog.getByRole('button', { name: 'Type it' }).click()
    await hasKeys('k', 'key 63', 'A', 'z', '!')
    await fromKeys(page, 'Ctrl-Alt-Del')
    await hasKeys()
    await isOn(screenOf(page), 'node2')
  },
)

browserTest('who may look only types nothing at a screen, also when the page would send it', async () => {
  const other = await context.newPage()
  await open(other, '/instances/web1/console?bare=1&kind=vnc')
  await isOn(screenOf(other), 'node2')
  await other.getByRole('switch', { name: 'View only' }).click()
  await isOn(screenOf(other), 'node2')
  await picture(other)
  for (const name of ['Keys', 'Paste'])
    expect(await screenOf(other).getByRole('button', { name, exact: true }).isDisabled()).toBe(true)
  await screenOf(other).locator('canvas').click()
  await other.keyboard.press('w')
  // A page that knows nothing of it: its ticket is one to look only.
  await other.route('**/console-tickets', (route) =>
    route.continue({ postData: JSON.stringify({ kind: 'vnc', read_only: true }) }),
  )
  const ticket = other.waitForResponse('**/console-tickets')
  await other.getByRole('switch', { name: 'View only' }).click()
  await ticket
  await isOn(screenOf(other), 'node2')
  await picture(other)
  await screenOf(other).locator('canvas').click()
  await other.keyboard.press('v')
  await fromKeys(other, 'Ctrl-Alt-Del')
  await page.bringToFront()
  await screenOf(page).locator('canvas').click()
  for (const key of 'bcd') await page.keyboard.press(key)
  await hasKeys('b', 'c', 'd')
  await other.close()
  await page.getByRole('tab', { name: 'Serial' }).click()
})

const pidOf = (node: string, daemon: string): number =>
  Number(fs.readFileSync(path.join(cluster.root, node, `var/run/ganeti/ganeti-${daemon}.pid`), 'utf8'))

browserTest('when the daemon of the node is killed, the console comes back with its successor', async () => {
  process.kill(pidOf('node2.gantry.local', 'noded'), 'SIGKILL')
  await serialOf(page).getByText('Waiting').waitFor()
  await isOn(serialOf(page), 'node2')
  await type(page, 'b')
})

browserTest('when the remote API is killed, the page asks to sign in again and the console goes on', async () => {
  // The line asks for a ticket in the old session, and hears of its end only when there is a new one.
  let tell = (): void => undefined
  const isSignedIn = new Promise<void>((resolve) => (tell = resolve))
  const tickets = '**/console-tickets'
  await page.route(tickets, async (route) => {
    // While there is no remote API, as the page sees it without this.
    const answer = await route.fetch().catch(() => undefined)
    if (answer === undefined) return route.abort('connectionrefused')
    if (answer.status() === 401) await isSignedIn
    await route.fulfill({ response: answer })
  })
  process.kill(pidOf('node1.gantry.local', 'rapi'), 'SIGKILL')
  await page.getByText('Your session has ended').waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(cluster.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Your session has ended').waitFor({ state: 'hidden' })
  tell()
  await isOn(serialOf(page), 'node2')
  await type(page, 'f')
  await page.unroute(tickets)
})

/** Hours that a monitoring daemon has seen, of which it finds this when it is started anew. */
function writeHistory(node: string): void {
  const begun_s = Math.floor(Date.now() / 1000) - 3 * 3600
  // It was not there for a while.
  const probes = Array.from({ length: 175 }, (_, at) => at).filter((at) => at < 60 || at > 80)
  const wave = (most: number) => probes.map((at) => most * (1 + Math.sin(at / 12)))
  const traffic = {
    ...{ disk_read_bytes_per_s: wave(3e6), disk_write_bytes_per_s: wave(9e5) },
    ...{ net_in_bytes_per_s: wave(5e4), net_out_bytes_per_s: wave(2e4) },
  }
  const reported = { interval_s: 60, times: probes.map((at) => begun_s + 60 * at), cpus_busy: wave(0.9), ...traffic }
  const memory = { memory_used_bytes: wave(4e9), memory_total_bytes: probes.map(() => 2.4e10) }
  const saved = {
    node: { ...reported, load: wave(1.2), ...memory },
    instances: { web1: { ...reported, memory_bytes: wave(4e7), net_in_bytes_per_s: probes.map(() => null) } },
  }
  fs.writeFileSync(path.join(cluster.root, node, 'var/run/ganeti/mond-history.data'), JSON.stringify(saved))
}

browserTest('the last hours of an instance and of its node are drawn, and told in words', async () => {
  writeHistory('node2.gantry.local')
  process.kill(pidOf('node2.gantry.local', 'mond'), 'SIGKILL')
  for (let known = 0; known < 100;) {
    const { body } = await cluster.rapi('GET', '/3/instances/web1/metrics')
    known = (body as { times?: unknown[] }).times?.length ?? 0
  }
  const other = await context.newPage()
  const chart = (name: string) => other.getByRole('figure', { name })
  await open(other, '/instances/web1?tab=metrics')
  await chart('Processors').locator('canvas').waitFor()
  await chart('Disk traffic')
    .getByText(/^Read: latest .+\/s, average .* MiB\/s, maximum 5\.7 MiB\/s \(\d\d:\d\d\)$/)
    .waitFor()
  await chart('Network traffic').getByText('Received: not measured').waitFor()
  await takePictures(other, 'instance-metrics')
  expect(await findings(other)).toEqual([])
  await open(other, '/nodes/node2.gantry.local')
  await chart('Load and processors').locator('canvas').waitFor()
  await chart('Memory')
    .getByText(/^Total: latest .* GiB, average .* GiB, maximum /)
    .waitFor()
  await chart('Memory').scrollIntoViewIfNeeded()
  await takePictures(other, 'node-metrics')
  expect(await findings(other)).toEqual([])
  await other.close()
})

browserTest('signing out elsewhere ends the console, and no page complained', async () => {
  expect((await cluster.rapi('DELETE', '/3/session?everywhere=true')).status).toBe(204)
  await page.getByText('Your session has ended').waitFor()
  await serialOf(page).getByText('Connection lost').waitFor()
  expect(complaints).toEqual([])
})
