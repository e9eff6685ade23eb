// mond learns its switches from confd, whoever answers.
import { CollectorSettings } from '../../../../src/daemons/mond/settings'
import { silentLog } from '../../../../src/lib/log'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { SteppedClock } from '../../../support/stepped-clock'

function follow(answer: () => Promise<unknown>) {
  const clock = new SteppedClock()
  const reported: unknown[] = []
  const ask = (question: number, query: string) => {
    expect([question, query]).toEqual([CONFD.dataCollectors, ''])
    return answer()
  }
  const settings = new CollectorSettings({
    clock,
    log: silentLog,
    ask,
    onTold: (switches) => reported.push([...switches]),
  })
  void settings.start()
  return { clock, told: reported, settings }
}

test('the settings are asked for again and again, and every answer is passed on', async () => {
  let interval = 5_000_000
  const { clock, told: reported, settings } = follow(() => Promise.resolve({ lv: { active: true, interval } }))
  await clock.pass(0)
  expect(reported).toEqual([[['lv', { active: true, interval_s: 5 }]]])
  interval = 1_000_000
  await clock.pass(20)
  expect(reported.at(-1)).toEqual([['lv', { active: true, interval_s: 1 }]])
  expect([...(settings.named() ?? [])]).toEqual(['lv'])
  settings.close()
  const before = reported.length
  await clock.pass(100)
  expect(reported).toHaveLength(before)
})

test('until somebody answers it is asked soon again; later what was told stays', async () => {
  let answers: Promise<unknown> = Promise.reject(new Error('No answer from the Confd server'))
  answers.catch(() => undefined)
  const { clock, told: reported, settings } = follow(() => answers)
  await clock.pass(3)
  expect([reported, settings.named(), settings.age_s()]).toEqual([[], undefined, undefined])
  answers = Promise.resolve({ lv: { active: false, interval: 5_000_000 } })
  await clock.pass(1)
  expect(reported.length).toBeGreaterThan(0)
  answers = new Promise(() => undefined)
  const before = reported.length
  await clock.pass(60)
  expect([reported.length - before, settings.named()?.has('lv')]).toEqual([0, true])
  expect(settings.age_s()).toBeGreaterThan(59)
})

test('a setting that makes no sense is as if it were not named', async () => {
  const { clock, told: reported } = follow(() =>
    Promise.resolve({
      a: { active: 'yes', interval: 1 },
      b: { active: true, interval: 0 },
      c: 7,
      d: { active: true, interval: 1e6 },
    }),
  )
  await clock.pass(0)
  expect(reported).toEqual([[['d', { active: true, interval_s: 1 }]]])
})
