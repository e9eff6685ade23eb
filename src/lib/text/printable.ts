/** Control characters except line ends and tabs, written out: foreign texts must not command somebody's terminal. */
export const printable = (text: string): string =>
  text.replace(/[^\P{Cc}\n\t]/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
