// A day in the life of the lock table, as text: each line is an event and, after the arrow, what followed. To see what a change of
// the rules does to it, read the difference that the test shows.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { isLevel } from '../../../src/model/lock-names'
import type { Effects } from '../../../src/locks/table'
import type { LockMode, LockRequest } from '../../../src/model/lock'
import { Desk, ids } from './support'

const FILE = path.join(__dirname, '../../golden/locks/transcript.txt')

const MODES: Readonly<Record<string, LockRequest[1]>> = { s: 'shared', x: 'exclusive', '-': 'release' }

/** `node/a:x` */
function part(text: string): LockRequest {
  const [lock = '', mode = ''] = text.split(':')
  return [lock, MODES[mode] ?? 'release']
}

const held = (text: string): [string, LockMode] => [part(text)[0], text.endsWith(':x') ? 'exclusive' : 'shared']

function perform(desk: Desk, line: string): Effects {
  const [verb = '', who = '', ...rest] = line.split(/\s+/)
  const [job = '', priority = '0'] = who.split('@')
  const id = Number(job)
  const level = rest[0]
  switch (verb) {
    case 'ask':
      return desk.ask(id, ...rest.map(part))
    case 'wait':
      return desk.wait(id, Number(priority), ...rest.map(part))
    case 'take':
      return desk.takeFree(id, Number(priority), ...rest.map(held))
    case 'keep':
      return desk.intersect(id, ...rest)
    case 'freeLevel':
    case 'downgrade':
      if (isLevel(level)) return desk.level(verb, id, level)
      throw new Error(`no level: ${line}`)
    default:
      return verb === 'free' ? desk.free(id) : desk.cancel(id)
  }
}

function outcome(desk: Desk, line: string): string {
  try {
    const { blockers, acquired, granted, withdrawn, changed } = perform(desk, line)
    const words = [
      blockers.length > 0 && `behind ${ids(blockers).join(' ')}`,
      acquired.length > 0 && `took ${acquired.join(' ')}`,
      withdrawn && 'request withdrawn',
      granted.length > 0 && `granted to ${ids(granted).join(' ')}`,
    ].filter((word) => word !== false)
    return words.join(', ') || (changed ? 'done' : 'nothing')
  } catch (error) {
    return String(error)
  }
}

test('the recorded events have the recorded effects', () => {
  const recorded = fs.readFileSync(FILE, 'utf8')
  const desk = new Desk()
  const played = recorded.split('\n').map((line) => {
    if (line.startsWith('#') || line.trim() === '') return line
    const event = (line.split('->')[0] ?? '').trim()
    return `${event} -> ${outcome(desk, event)}`
  })
  expect(played.join('\n')).toBe(recorded)
})
