// A program finds out its version.
import * as path from 'node:path'
import { releaseOf } from '../../../src/model/release'
import { ownRelease } from '../../../src/start/program'
import { root } from '../../support/source-tree'

test('a program knows the version of its package by the file beside it, and none without one', async () => {
  const files = new Map<string, string>()
  const disk = {
    read: (file: string) => Promise.resolve(files.has(file) ? Buffer.from(files.get(file) ?? '') : undefined),
  }
  expect(await ownRelease(disk)).toBeUndefined()
  files.set(path.join(root, 'release.json'), JSON.stringify(releaseOf('0.1.1')))
  expect(await ownRelease(disk)).toBe('0.1.1')
  files.set(path.join(root, 'release.json'), 'no JSON')
  expect(await ownRelease(disk)).toBeUndefined()
})
