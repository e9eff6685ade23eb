// A few of the files that are set aside are kept, the newest ones.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { systemDisk } from '../../../../src/lib/disk'
import { quarantineCopy, quarantine } from '../../../../src/lib/file/quarantine'

test('the newest of the files that are set aside are kept, even when the clock is set back, and nothing else is touched', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-aside-'))
  const file = path.join(folder, 'locks.data')
  const others = ['locks.data.rejected-x', 'other.rejected-1', 'locks.data.backup-1']
  for (const name of others) fs.writeFileSync(path.join(folder, name), '')
  let now_ms = 2_000_000
  for (let round = 0; round < 20; round++) {
    fs.writeFileSync(file, `content ${round}`)
    now_ms -= 1000
    await quarantine(file, 'rejected', { disk: systemDisk, clock: { ...systemClock, now_ms: () => now_ms }, most: 3 })
  }
  const kept = fs.readdirSync(folder).filter((name) => !others.includes(name))
  expect(kept.sort().map((name) => fs.readFileSync(path.join(folder, name), 'utf8'))).toEqual([
    'content 17',
    'content 18',
    'content 19',
  ])
  expect(fs.readdirSync(folder)).toEqual(expect.arrayContaining(others))
  fs.rmSync(folder, { recursive: true })
})

test('the same content is kept once, and pushes out no other', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-aside-'))
  const file = path.join(folder, 'config.data')
  const options = { disk: systemDisk, clock: systemClock, most: 3 }
  const former = await quarantineCopy(file, 'rejected', 'former', options)
  const first = await quarantineCopy(file, 'rejected', 'now', options)
  for (let round = 0; round < 5; round++) expect(await quarantineCopy(file, 'rejected', 'now', options)).toBe(first)
  expect(fs.readFileSync(former, 'utf8')).toBe('former')
  expect(fs.readdirSync(folder)).toHaveLength(2)
  fs.rmSync(folder, { recursive: true })
})
