// Output that is shown anew in its place, on terminals and without one.
import { Picture } from '../../../../src/cli/output/picture'

const ESCAPE = '\u001b'

function canvas(isTerminal: boolean, columns = 20, rows = 4) {
  const written: string[] = []
  const picture = new Picture({
    ...{ isTerminal, size: () => ({ columns, rows }) },
    write: (text) => void written.push(text.replaceAll(ESCAPE, '^')),
  })
  return { picture, written }
}

test('on a terminal each picture is one write over the one before, and at the end all is as it was', () => {
  const { picture, written } = canvas(true)
  picture.show(['one', 'two'])
  picture.show(['three'])
  picture.close()
  picture.close()
  expect(written).toEqual(['^[?1049h^[?25l^[Hone^[K\r\ntwo^[K^[J', '^[Hthree^[K^[J', '^[?25h^[?1049lthree\n'])
})

test('what does not fit on the terminal is cut, and the last row says how many lines are missing', () => {
  const { picture, written } = canvas(true, 20, 3)
  picture.show(['x'.repeat(30), 'two', 'three', 'four'])
  expect(written[0]).toContain(`${'x'.repeat(20)}^[K\r\ntwo^[K\r\n... 2 more lines^[K`)
})

test('a terminal that does not know its size gets all', () => {
  const { picture, written } = canvas(true, 0, 0)
  picture.show(['x'.repeat(300), 'two'])
  expect(written[0]).toContain(`${'x'.repeat(300)}^[K\r\ntwo^[K^[J`)
})

test('without a terminal there are plain lines only', () => {
  const { picture, written } = canvas(false)
  picture.show(['one', 'two'])
  picture.show(['three'])
  picture.close()
  expect(written.join('')).toBe('one\ntwo\n\nthree\n')
})

test('a picture that was never shown leaves no trace', () => {
  const { picture, written } = canvas(true)
  picture.close()
  expect(written).toEqual([])
})
