// The serial console of an instance in a terminal.
import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { texts } from '../../texts'
import { saveAs } from './save'
import { Panel } from './panel'
import { useConsole } from './use-console'

const own = texts.console
const ENCODER = new TextEncoder()
/** Longer texts are shown for confirmation before they are pasted. */
const PASTED_UNSEEN_MAX = 300
const SCROLLBACK = 5000

const CONTROL_KEYS: readonly (readonly [label: string, sent: string])[] = [
  ...[...'CDZLUR\\]'].map((letter) => [`Ctrl-${letter}`, String.fromCharCode(letter.charCodeAt(0) & 0x1f)] as const),
  ...([
    ['Esc', '\x1b'],
    ['Tab', '\t'],
    ['Ctrl-Alt-Del', '\x1b[3;7~'],
  ] as const),
  ...['OP', 'OQ', 'OR', 'OS', '[15~', '[17~', '[18~', '[19~', '[20~', '[21~', '[23~', '[24~'].map(
    (code, at) => [`F${at + 1}`, `\x1b${code}`] as const,
  ),
]

export function SerialPanel({ name, readOnly }: { name: string; readOnly: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  const terminal = useRef<Terminal>(undefined)
  const [pasted, setPasted] = useState<string>()
  const line = useConsole({
    ...{ name, kind: 'serial', readOnly },
    onStream: () => undefined,
    onBytes: (bytes) => terminal.current?.write(new Uint8Array(bytes)),
  })
  const type = useEffectEvent((text: string) => line.send(ENCODER.encode(text)))
  useEffect(() => {
    if (place.current === null) return
    const made = openTerminal(place.current, (text) => type(text), setPasted)
    terminal.current = made.terminal
    return made.close
  }, [])
  useEffect(() => {
    if (terminal.current !== undefined) terminal.current.options.disableStdin = readOnly
  }, [readOnly])
  const press = (text: string) => {
    line.send(ENCODER.encode(text))
    terminal.current?.focus()
  }
  return (
    <Panel
      label={own.serialOf(name)}
      {...{ state: line.state, again: line.again, readOnly, place, pasted }}
      forgetPasted={() => setPasted(undefined)}
      keys={CONTROL_KEYS.map(([label, sent]) => ({ label, press: () => press(sent) }))}
      paste={(text) => {
        terminal.current?.paste(text)
        terminal.current?.focus()
      }}
      pasteText={own.pasteSerial}
      save={() => saveAs(`${name}-serial.txt`, new Blob([textOf(terminal.current)], { type: 'text/plain' }))}
      saveLabel={own.saveText}
    />
  )
}

function openTerminal(place: HTMLElement, type: (text: string) => void, ask: (text: string) => void) {
  const terminal = new Terminal({
    ...{ scrollback: SCROLLBACK, fontSize: 13, cursorBlink: false, screenReaderMode: true },
    fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace',
    theme: { background: '#141517', foreground: '#e9ecef' },
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.open(place)
  const typed = terminal.onData(type)
  const sized = new ResizeObserver(() => fit.fit())
  sized.observe(place)
  // A long text is shown first, because a shell would execute each of its lines.
  const onPaste = (event: ClipboardEvent) => {
    const text = event.clipboardData?.getData('text') ?? ''
    if (text.length <= PASTED_UNSEEN_MAX) return
    event.preventDefault()
    event.stopPropagation()
    ask(text)
  }
  place.addEventListener('paste', onPaste, { capture: true })
  terminal.focus()
  return {
    terminal,
    close() {
      sized.disconnect()
      typed.dispose()
      place.removeEventListener('paste', onPaste, { capture: true })
      terminal.dispose()
    },
  }
}

function textOf(terminal: Terminal | undefined): string {
  const buffer = terminal?.buffer.active
  if (buffer === undefined) return ''
  const lines = Array.from({ length: buffer.length }, (_, at) => buffer.getLine(at)?.translateToString(true) ?? '')
  return `${lines.join('\n').trimEnd()}\n`
}
