// Changes of files are noticed although the system tells nothing of them.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { WatchedFiles } from '../../../../src/lib/file/watched-files'
import { SteppedClock } from '../../../support/stepped-clock'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gwatched-'))
afterAll(() => fs.rmSync(root, { recursive: true }))

test('where the system cannot tell of changes, the files are looked at now and then', async () => {
  // Nobody can watch a directory that is not there.
  const [one = '', other = ''] = ['one', 'other'].map((name) => path.join(root, 'later', name))
  const clock = new SteppedClock()
  const changed: string[] = []
  const watched = new WatchedFiles({
    ...{ files: fs, watched: [one, other], clock, settle_s: 0.25, look_s: 17 },
    onChange: (file) => void changed.push(path.basename(file)),
  })
  fs.mkdirSync(path.dirname(one))
  fs.writeFileSync(one, 'first')
  await clock.pass(16)
  expect(changed).toEqual([])
  await clock.pass(1)
  expect(changed.splice(0)).toEqual(['one'])
  await clock.pass(17)
  expect(changed).toEqual([])
  fs.renameSync(one, other)
  await clock.pass(17)
  expect(changed.splice(0)).toEqual(['one', 'other'])
  watched.close()
  fs.rmSync(other)
  await clock.pass(34)
  expect(changed).toEqual([])
})
