// Tasks take turns, also after one has failed.
import { Mutex } from '../../../../src/lib/work/mutex'

test('tasks are done one after the other, whatever became of those before', async () => {
  const turns = new Mutex()
  const done: string[] = []
  let release: () => void = () => undefined
  const first = turns.runExclusive(async () => {
    await new Promise<void>((resolve) => (release = resolve))
    done.push('first')
    throw new Error('full')
  })
  const second = turns.runExclusive(async () => done.push('second'))
  await Promise.resolve()
  expect(done).toEqual([])
  release()
  await expect(first).rejects.toThrow('full')
  await expect(second).resolves.toBe(2)
  expect(done).toEqual(['first', 'second'])
})

test('idle when all that was asked for until now is over', async () => {
  const turns = new Mutex()
  const done: string[] = []
  void turns.runExclusive(async () => done.push('work'))
  await turns.idle()
  expect(done).toEqual(['work'])
})
