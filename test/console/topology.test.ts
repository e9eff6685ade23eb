// The overview and the picture of the cluster in the console: what is well, what would happen, and a balance that is carried out.
import type { Browser, Page } from 'playwright-core'
import {
  browserPresent,
  browserTest,
  cutTexts,
  findings,
  launchBrowser,
  newPage,
  takePictures,
} from '../support/browser'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

let cluster: EmbeddedCluster
let browser: Browser
let page: Page
let complaints: string[]

const NAMES = ['web1', 'web2', 'web3', 'web4', 'db1', 'db2']

beforeAll(async () => {
  if (!browserPresent) return
  cluster = await startCluster(['--hypervisor', 'fake'])
  const made = await Promise.all(
    NAMES.map((name) =>
      cluster.run({
        ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: name, mode: 'create', hypervisor: 'fake' },
        ...{ disk_template: name.startsWith('db') ? 'file' : 'sharedfile', disks: [{ size: 16 }], nics: [{}] },
        ...{ os_type: 'gantry-tiny', beparams: { memory: 128 }, no_install: true, start: false },
        pnode: 'node1.gantry.local',
      }),
    ),
  )
  expect(made.map(({ status }) => status)).toEqual(NAMES.map(() => 'success'))
  const tagged = await cluster.run({
    ...{ OP_ID: 'OP_TAGS_SET', kind: 'node', name: 'node1.gantry.local', tags: ['rack:1'] },
  })
  expect(tagged.status).toBe('success')
  browser = await launchBrowser()
  ;({ page, complaints } = await newPage(browser))
})

afterAll(async () => {
  if (!browserPresent) return
  await browser?.close()
  await cluster?.remove()
})

/** Looks at the page as it is now. */
async function look(name: string): Promise<void> {
  await takePictures(page, name)
  expect([name, await findings(page)]).toEqual([name, []])
}

const open = (path: string) => page.goto(`${cluster.url}/ui${path}`)
const tile = (node: string) => page.getByRole('option', { name: new RegExp(`^${node}\\.gantry\\.local`) })

browserTest('the overview tells room, reserve, score and what happened last', async () => {
  await open('/')
  await page.getByLabel('User').fill('admin')
  await page.getByRole('textbox', { name: 'Password' }).fill(cluster.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const room = page.getByRole('table', { name: 'Capacity and reserve' })
  await room.getByRole('link', { name: 'default' }).waitFor()
  await room.getByRole('cell', { name: /^\d+( or more)?$/ }).waitFor()
  await room.getByText(/All instances can fail over|lacks? reserve/).waitFor()
  await page
    .getByRole('region', { name: 'Balance' })
    .getByText(/moves? would improve the score/)
    .waitFor()
  const commands = {
    ...{ Balance: 'gnt allocation balance --max-moves=20', Health: 'gnt cluster monitor' },
    'Capacity and reserve': /^gnt allocation capacity .*--max-instances=200\ngnt allocation whatif$/,
  }
  for (const [card, command] of Object.entries(commands)) {
    const copy = page.getByRole('region', { name: card }).getByRole('button', { name: 'Copy as gnt' })
    expect(await copy.getAttribute('title')).toEqual(expect.stringMatching(command))
  }
  // The instances were made at the same time, so that any of them may be further back by now.
  await cluster.run({ OP_ID: 'OP_TAGS_SET', kind: 'instance', name: 'db2', tags: ['seen'] })
  await page.getByRole('region', { name: 'Recent events' }).getByRole('link', { name: 'db2' }).first().waitFor()
  await look('overview')
})

browserTest('a node that is chosen in the picture by keyboard shows its instances', async () => {
  await page.getByRole('link', { name: 'Topology' }).click()
  await tile('node1').waitFor()
  await tile('node1').focus()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await page.getByRole('table', { name: 'Its instances' }).getByRole('link', { name: 'web1' }).waitFor()
  expect(await tile('node1').getAttribute('aria-selected')).toBe('true')
  await look('topology')
})

browserTest('what comes back where, and what cannot and why, is told before a node dies', async () => {
  await page.getByText('What if', { exact: true }).click()
  const panel = page.getByRole('complementary', { name: 'What if' })
  expect(await panel.getByRole('button', { name: 'Calculate the result' }).isDisabled()).toBe(true)
  await tile('node1').click()
  await panel.getByRole('button', { name: 'Calculate the result' }).click()
  await panel.getByRole('table', { name: 'Restarted elsewhere' }).getByRole('link', { name: 'web4' }).waitFor()
  const lost = panel.getByRole('table', { name: 'Cannot be restarted' }).getByRole('row', { name: /db1/ })
  expect(await lost.textContent()).toContain('only on the node that is down')
  expect(await tile('node1').getAttribute('aria-label')).toContain('fails, 4 instances leave')
  await look('what-if')
  await panel.getByRole('button', { name: 'Do not let node1.gantry.local fail' }).click()
  await panel.getByText('This is the result of the previous question.').waitFor()
})

browserTest('a rack dies by its tag, while instances arrive', async () => {
  const panel = page.getByRole('complementary', { name: 'What if' })
  await panel.getByRole('combobox', { name: 'All nodes with the tag' }).click()
  await page.getByRole('option', { name: 'rack:1 (1 node)' }).click()
  await panel.getByText('New instances', { exact: true }).click()
  await panel.getByLabel('Number').fill('2')
  await panel.getByRole('button', { name: 'Calculate the result' }).click()
  await panel.getByRole('table', { name: 'Placed', exact: true }).waitFor()
  await page.getByText('Table', { exact: true }).click()
  await page.getByRole('row', { name: /node1\.gantry\.local.*Fails/ }).waitFor()
  await panel.getByText('Only the nodes with the tag.').waitFor()
  expect(await cutTexts(page.getByRole('table', { name: 'Nodes' }).locator('.vt-cell'))).toEqual([])
  await look('what-if-table')
  await page.getByText('Picture', { exact: true }).click()
})

browserTest('the balance is shown as moves, and carried out as it was shown', async () => {
  await page.getByText('Balance', { exact: true }).click()
  const panel = page.getByRole('complementary', { name: 'Balance' })
  await panel.getByRole('button', { name: /Plan/ }).click()
  await panel.getByText(/score [\d.]+ → [\d.]+/).waitFor()
  await look('balance')
  await panel.getByRole('button', { name: /^Carry out \d+ moves?$/ }).click()
  const entry = page
    .getByRole('region', { name: 'Jobs that you started' })
    .locator('.tray-entries > *', { hasText: 'Balance' })
  await entry.getByText(/^(Done|Failed)/).waitFor()
  expect(await entry.textContent()).toContain('Done')
  const { body } = await cluster.rapi('GET', '/3/nodes/node1.gantry.local')
  expect((body as { pinst_cnt: number }).pinst_cnt).toBeLessThan(NAMES.length)
  expect(complaints).toEqual([])
})
