// Whatever changes, the journal tells it, and what was cut or damaged in it is noticed.
import * as fc from 'fast-check'
import { applyChange, type NamedChange } from '../../../src/config/changes'
import { applyDelta, diff, type Delta } from '../../../src/config/delta'
import { encodeConfig, encodeGantry } from '../../../src/config/encode'
import { decodeJournal, decodeRecords, encodeMark, encodeRecord, replay, sha256 } from '../../../src/config/journal'
import { EMPTY_GANTRY, loadConfig, loadGantry } from '../../../src/config/upgrade'
import { seededRandom } from '../../../src/lib/random'
import type { Documents } from '../../../src/model/config'
import { GanetiError } from '../../../src/model/errors'
import { arbitraryChange } from './arbitrary-changes'
import { at, smallConfig } from './builders'
import { checkProperty } from '../../support/effort'

const base: Documents = { config: smallConfig(), gantry: EMPTY_GANTRY }
const list = fc.array(arbitraryChange(base.config), { minLength: 1, maxLength: 30 })

const text = ({ config, gantry }: Documents): string => encodeConfig(config) + encodeGantry(gantry)

/** The states after each change that was not refused. */
function history(changes: readonly NamedChange[]): Documents[] {
  const states = [base]
  changes.forEach((change, index) => {
    const last = states.at(-1) ?? base
    try {
      const next = applyChange(last, change, at(2000 + index + 0.25)).documents
      if (next !== last) states.push(next)
    } catch (error) {
      if (!(error instanceof GanetiError)) throw error
    }
  })
  return states
}

const overWire = (delta: Delta): Delta => decodeRecords(encodeRecord(delta))[0] ?? delta

/** As another process would read it: nothing shared with the states here. */
const reread = (): Documents => ({
  config: loadConfig(encodeConfig(base.config), seededRandom(1)).config,
  gantry: loadGantry(encodeGantry(base.gantry)),
})

/** Leaves nothing behind but a count. */
const setAndRemoved: NamedChange[] = [
  ['setGantry', 'plans', 'k0', 0],
  ['setGantry', 'plans', 'k0', null],
]

const hashes = { config: sha256(encodeConfig(base.config)), gantry: sha256(encodeGantry(base.gantry)) }
const mark = {
  config: { serial: base.config.serial_no, sha256: hashes.config },
  gantry: { serial: base.gantry.serial_no, sha256: hashes.gantry },
}

test('the delta of two states, applied to the one, gives the other, also over the wire', () => {
  checkProperty(
    fc.property(list, (changes) => {
      const states = history(changes)
      const last = states.at(-1) ?? base
      for (const before of [states[0], states[Math.floor(states.length / 2)]]) {
        if (!before || before === last) continue
        const delta = diff(before, last)
        expect(text(applyDelta(before, delta))).toBe(text(last))
        if (before === base) expect(text(applyDelta(reread(), overWire(delta)))).toBe(text(last))
      }
    }),
    { numRuns: 60, examples: [[setAndRemoved]] },
  )
})

test('states without a common history have the same delta as states with one', () => {
  checkProperty(
    fc.property(list, (changes) => {
      const last = history(changes).at(-1) ?? base
      expect(diff(reread(), last)).toEqual(diff(base, last))
    }),
    { numRuns: 40 },
  )
})

test('a change keeps every older state as it was, and counts one serial number', () => {
  checkProperty(
    fc.property(list, (changes) => {
      const before = text(base)
      const states = history(changes)
      expect(text(base)).toBe(before)
      expect(states.map((state) => state.config.serial_no)).toEqual(states.map((_, index) => index + 1))
    }),
    { numRuns: 40 },
  )
})

test('records are read back as they were written, in the same words', () => {
  checkProperty(
    fc.property(list, (changes) => {
      const { config, gantry } = history(changes).at(-1) ?? base
      expect(encodeConfig(loadConfig(encodeConfig(config), seededRandom(1)).config)).toBe(encodeConfig(config))
      expect(encodeGantry(loadGantry(encodeGantry(gantry)))).toBe(encodeGantry(gantry))
    }),
    { numRuns: 40 },
  )
})

test('a journal cut at any byte gives one of the states that were passed, and all records before the cut', () => {
  checkProperty(
    fc.property(list, fc.double({ min: 0, max: 1, noNaN: true }), (changes, cut) => {
      const states = history(changes)
      const lines = states.slice(1).map((state, index) => encodeRecord(diff(states[index] ?? base, state)))
      const head = encodeMark(mark)
      const whole = Buffer.concat([head, ...lines])
      const length = head.length + Math.floor((whole.length - head.length) * cut)
      const journal = decodeJournal(whole.subarray(0, length))
      const replayed = replay(reread(), hashes, journal)
      if (typeof replayed === 'string') throw new Error(replayed)
      let complete = 0
      for (let size = head.length; complete < lines.length; complete++) {
        size += lines[complete]?.length ?? 0
        if (size > length) break
      }
      expect(replayed.applied).toBe(complete)
      expect(text(replayed.documents)).toBe(text(states[complete] ?? base))
    }),
    { numRuns: 100 },
  )
})

test('a flipped byte is noticed: at the end as a torn record, before good records as damage', () => {
  const states = history([['allocatePort'], ['allocatePort'], ['allocatePort']])
  const lines = states.slice(1).map((state, index) => encodeRecord(diff(states[index] ?? base, state)))
  const flip = (line: Buffer | undefined) => Buffer.from(line ?? '').fill('!', 20, 21)
  const head = encodeMark(mark)
  const middle = decodeJournal(Buffer.concat([head, ...lines.with(1, flip(lines[1]))]))
  expect([middle.records.length, middle.damagedLine]).toEqual([1, 3])
  const end = decodeJournal(Buffer.concat([head, ...lines.with(2, flip(lines[2]))]))
  expect([end.records.length, end.damagedLine]).toEqual([2, undefined])
})

test('a journal of other files is refused with the reason', () => {
  const journal = decodeJournal(encodeMark(mark))
  expect(replay(reread(), { ...hashes, config: 'other' }, journal)).toBe('it belongs to another config.data')
  expect(replay(reread(), { ...hashes, gantry: 'other' }, journal)).toBe('it belongs to another gantry.data')
})
