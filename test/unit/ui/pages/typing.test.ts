// Text that is typed key by key into a VNC screen, with the keys of a US keyboard, until somebody stops it.
import { keysFor } from '../../../../ui/src/pages/console/screen-keys'
import { typeAll } from '../../../../ui/src/pages/console/typing'

async function typed(text: string, stopAfter = Infinity): Promise<string[]> {
  const stop = new AbortController()
  const codes: string[] = []
  let pauses = 0
  await typeAll(
    text,
    (keys) => void codes.push(keys.map(([, code]) => code).join('+')),
    stop.signal,
    async () => {
      if (++pauses === stopAfter) stop.abort()
    },
  )
  return codes
}

test('every character is typed once, and a line of any system ends with one Enter', async () => {
  expect(await typed('aB1!\r\n\t\n')).toEqual([
    ...['KeyA', 'ShiftLeft+KeyB', 'Digit1', 'ShiftLeft+Digit1', 'Enter', 'Tab', 'Enter'],
  ])
})

test('a character that no key has is sent as a symbol', () => {
  expect([keysFor('é'), keysFor('€')]).toEqual([[[0xe9, null]], [[0x0100_20ac, null]]])
})

test('nothing more is typed after it was stopped', async () => {
  expect(await typed('rm -rf /\n', 3)).toEqual(['KeyR', 'KeyM', 'Space'])
})
