// Which of two copies of the configuration has something that the other lacks.
import { applyChange } from '../../../src/config/changes'
import { forked, forksOf, statusOf, surplus } from '../../../src/config/copy-status'
import { noting } from '../../../src/config/copy-notes'
import { openStore } from '../../../src/config/store'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { COPY_NOTES_KEPT_MAX, FORKS_KEPT_MAX } from '../../../src/model/limits/config'
import type { Documents } from '../../../src/model/config'
import { at, buildNode, master, smallConfig, storeOptions } from './builders'

const own = { config_serial: 10, gantry_serial: 8, forks: [], master: 'me' }

test.each([
  ['the same', own, undefined],
  ['less', { ...own, config_serial: 9, gantry_serial: 1 }, undefined],
  ['a newer configuration', { ...own, config_serial: 11 }, 'config.data with serial number 11 (here: 10)'],
  ['newer data of ours', { ...own, gantry_serial: 9 }, 'gantry.data with serial number 9 (here: 8)'],
  [
    'more of both',
    { ...own, config_serial: 11, gantry_serial: 9 },
    'config.data with serial number 11 (here: 10) and gantry.data with serial number 9 (here: 8)',
  ],
])('another copy with %s', (_, other, text) =>
  expect(surplus(own, other)).toEqual(text === undefined ? undefined : { text, isFormer: false }),
)

test('an earlier version noted no change of the master, so more of another master is of a former history', () =>
  expect(surplus(own, { ...own, config_serial: 11, master: 'the former one' })).toMatchObject({ isFormer: true }))

describe('a new master begins a history', () => {
  const begin = (): Documents => {
    const config = smallConfig()
    const node = buildNode(config, 2, { master_candidate: true })
    return applyChange({ config, gantry: EMPTY_GANTRY }, ['addNode', node], at(1)).documents
  }
  const failOver = (documents: Documents, seed: number, to: string) =>
    applyChange(documents, ['setMasterNode', to], { ...at(1), random: { ...at(1).random, uuid: () => `fork${seed}` } })
      .documents
  const tag = (documents: Documents, name: string) =>
    applyChange(documents, ['addTags', 'cluster', '', [name]], at(2)).documents

  const before = begin()
  const [first, second] = [master(before.config).uuid, buildNode(before.config, 2).uuid]
  const now = failOver(before, 1, second)

  test('which its gantry.data names, so that each copy tells it', () => {
    expect(statusOf(now)).toEqual({
      config_serial: before.config.serial_no + 1,
      gantry_serial: before.config.serial_no + 1,
      forks: [['fork1', before.config.serial_no]],
      master: second,
    })
    expect(forksOf(tag(now, 'a').gantry)).toEqual([['fork1', before.config.serial_no]])
  })

  test('and a copy of the former master that is no later than that has nothing more', () =>
    expect(surplus(statusOf(now), statusOf(before))).toBeUndefined())

  test.each([1, 5])('but one with %i later changes has, whatever its serial number is', (changes) => {
    let former = before
    for (let n = 0; n < changes; n++) former = tag(former, `t${n}`)
    let later = now
    for (let n = 0; n < 9; n++) later = tag(later, `n${n}`)
    for (const other of [now, later])
      expect(surplus(statusOf(other), statusOf(former))).toEqual({
        isFormer: true,
        text: `config.data with serial number ${former.config.serial_no} of a history that has ended at ${before.config.serial_no}`,
      })
  })

  test('also after the former master has become the master again', () => {
    const back = failOver(tag(now, 'x'), 2, first)
    expect(surplus(statusOf(back), statusOf(tag(before, 'lost')))).toMatchObject({ isFormer: true })
    expect(surplus(statusOf(back), statusOf(tag(now, 'x')))).toBeUndefined()
    expect(surplus(statusOf(back), statusOf(tag(tag(now, 'x'), 'y')))).toMatchObject({ isFormer: true })
  })

  test('a copy of a later history has more than files of an earlier one', () =>
    expect(surplus(statusOf(before), statusOf(now))).toMatchObject({
      isFormer: true,
      text: expect.stringContaining('config.data'),
    }))

  test('the list of histories is bounded', () => {
    let documents = before
    for (let n = 0; n < FORKS_KEPT_MAX + 5; n++) documents = { ...documents, gantry: forked(documents, `f${n}`) }
    expect(forksOf(documents.gantry)).toHaveLength(FORKS_KEPT_MAX)
    expect(forksOf(documents.gantry).at(-1)?.[0]).toBe(`f${FORKS_KEPT_MAX + 4}`)
  })
})

test('files that a person has taken begin a history, too, and the note of it says so', async () => {
  const options = await storeOptions(smallConfig())
  const store = await openStore({ ...options, takeFiles: true })
  const taken = store.documents()
  await store.close(true)
  expect(surplus(statusOf(taken), { ...own, config_serial: 99, master: taken.config.cluster.master_node })).toMatchObject({ isFormer: true }) // prettier-ignore
  expect(Object.values(taken.gantry.sections['copies'] ?? {})).toEqual([
    { time: expect.any(Number), node: options.paths.hostname, text: 'a person has said that the files of the configuration are right as they are' }, // prettier-ignore
  ])
})

test('the newest notes are kept', () => {
  let section: Record<string, unknown> = {}
  for (let n = 1; n <= COPY_NOTES_KEPT_MAX + 3; n++)
    for (const [key, note] of noting({ ...EMPTY_GANTRY, sections: { copies: section } }, { time: n, node: 'n', text: 't' }))
      section = note === null ? Object.fromEntries(Object.entries(section).filter(([k]) => k !== key)) : { ...section, [key]: note } // prettier-ignore
  expect(Object.keys(section).map(Number)).toEqual(Array.from({ length: COPY_NOTES_KEPT_MAX }, (_, n) => n + 4))
})
