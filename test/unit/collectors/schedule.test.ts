// How often a collector is asked follows from what it finds and costs.
import * as fc from 'fast-check'
import { boundsOf, firstSchedule, nextSchedule } from '../../../src/collectors/schedule'
import { checkProperty } from '../../support/effort'

const bounds = boundsOf(5, 'performance')
const still = { changed: false, took_ms: 1 }
const moving = { changed: true, took_ms: 1 }

test('a collector that finds no change is looked at ever less often, up to the longest interval', () => {
  let pace = firstSchedule({ interval_s: 5, cost_ms: 1 }, bounds)
  const observed = Array.from({ length: 8 }, () => (pace = nextSchedule(pace, still, bounds)).interval_s)
  expect(observed.slice(0, 3)).toEqual([7.5, 11.25, 16.875])
  expect(observed.at(-1)).toBe(60)
})

test('health is read as often as configured, whatever is found and whatever it costs', () => {
  const strict = boundsOf(5, 'status')
  let pace = firstSchedule({ interval_s: 30, cost_ms: 4000 }, strict)
  expect(pace.interval_s).toBe(5)
  for (let look = 0; look < 8; look++) pace = nextSchedule(pace, { changed: false, took_ms: 4000 }, strict)
  expect(pace.interval_s).toBe(5)
})

test('a collector whose value changes again is looked at sooner, down to the configured interval', () => {
  const slow = { interval_s: 60, cost_ms: 1 }
  const first = nextSchedule(slow, moving, bounds)
  expect(first.interval_s).toBe(30)
  expect(nextSchedule({ interval_s: 6, cost_ms: 1 }, moving, bounds).interval_s).toBe(5)
})

test('an expensive collector is looked at so seldom that it costs a small share of the time', () => {
  const pace = firstSchedule({ interval_s: 5, cost_ms: 400 }, bounds)
  expect(pace.interval_s).toBe(20)
  expect(nextSchedule(pace, { changed: true, took_ms: 800 }, bounds)).toEqual({ interval_s: 30, cost_ms: 600 })
})

test('whatever is seen, an interval stays between the bounds of the configuration', () => {
  const look = fc.record({ changed: fc.boolean(), took_ms: fc.double({ min: 0, max: 1e6, noNaN: true }) })
  checkProperty(
    fc.property(fc.array(look), fc.integer({ min: 1, max: 3600 }), (probes, configured_s) => {
      const within = boundsOf(configured_s, 'performance')
      let pace = firstSchedule({ interval_s: 5, cost_ms: 10 }, within)
      for (const one of probes) {
        pace = nextSchedule(pace, one, within)
        expect(pace.interval_s).toBeGreaterThanOrEqual(within.fastest_s)
        expect(pace.interval_s).toBeLessThanOrEqual(within.slowest_s)
      }
    }),
  )
})
