// Keys for VNC screens. Modern guests get the position of a key (code), old ones the symbol on it (keysym).
export type Key = readonly [keysym: number, code: string]

const CONTROL: Key = [0xffe3, 'ControlLeft']
const ALT: Key = [0xffe9, 'AltLeft']
const SHIFT: Key = [0xffe1, 'ShiftLeft']
const SUPER: Key = [0xffeb, 'MetaLeft']
const ENTER: Key = [0xff0d, 'Enter']
const TAB: Key = [0xff09, 'Tab']

const functionKey = (number: number): Key => [0xffbd + number, `F${number}`]
const FUNCTION_KEYS = Array.from({ length: 12 }, (_, at) => at + 1)

/** Key combinations. Each key is pressed while the previous ones are held. */
export const COMBINATIONS: readonly (readonly [label: string, keys: readonly Key[]])[] = [
  ['Ctrl-Alt-Del', [CONTROL, ALT, [0xffff, 'Delete']]],
  ['Ctrl-Alt-Backspace', [CONTROL, ALT, [0xff08, 'Backspace']]],
  ['Alt-Tab', [ALT, TAB]],
  ['Alt-F4', [ALT, functionKey(4)]],
  ['Ctrl-Esc', [CONTROL, [0xff1b, 'Escape']]],
  ['Super', [SUPER]],
  ['Esc', [[0xff1b, 'Escape']]],
  ['Tab', [TAB]],
  ['Print screen', [[0xff61, 'PrintScreen']]],
  ...FUNCTION_KEYS.map((number) => [`F${number}`, [functionKey(number)]] as const),
  ...FUNCTION_KEYS.map((number) => [`Ctrl-Alt-F${number}`, [CONTROL, ALT, functionKey(number)]] as const),
]

/** The keys of a US keyboard other than letters, without and with Shift. */
const SIGNS: readonly (readonly [code: string, plain: string, shifted: string])[] = [
  ...[...')!@#$%^&*('].map((sign, digit) => [`Digit${digit}`, String(digit), sign] as const),
  ...([
    ['Minus', '-', '_'],
    ['Equal', '=', '+'],
    ['BracketLeft', '[', '{'],
    ['BracketRight', ']', '}'],
  ] as const),
  ...([
    ['Backslash', '\\', '|'],
    ['Semicolon', ';', ':'],
    ['Quote', "'", '"'],
    ['Comma', ',', '<'],
  ] as const),
  ...([
    ['Period', '.', '>'],
    ['Slash', '/', '?'],
    ['Backquote', '`', '~'],
    ['Space', ' ', ' '],
  ] as const),
]

/** The keys that type a character. A character without a key is sent as a keysym only. */
export function keysFor(character: string): readonly (readonly [number, string | null])[] {
  if (character === '\n') return [ENTER]
  if (character === '\t') return [TAB]
  const keysym = character.codePointAt(0) ?? 0
  if (/[a-z]/.test(character)) return [[keysym, `Key${character.toUpperCase()}`]]
  if (/[A-Z]/.test(character)) return [SHIFT, [keysym, `Key${character}`]]
  const sign = SIGNS.find(([, plain, shifted]) => plain === character || shifted === character)
  if (sign === undefined) return [[keysym > 0xff ? 0x0100_0000 | keysym : keysym, null]]
  return sign[1] === character ? [[keysym, sign[0]]] : [SHIFT, [keysym, sign[0]]]
}
