// The VNC screen of an instance.
import { Button } from '@mantine/core'
import RFB from '@novnc/novnc'
import { useEffect, useRef, useState } from 'react'
import { texts } from '../../texts'
import { saveAs } from './save'
import { Panel } from './panel'
import { ScreenChannel } from './screen-channel'
import { COMBINATIONS } from './screen-keys'
import { typeAll } from './typing'
import { useConsole } from './use-console'

const own = texts.console

interface Open {
  readonly screen: RFB
  readonly channel: ScreenChannel
}

export function ScreenPanel({ name, readOnly }: { name: string; readOnly: boolean }) {
  const place = useRef<HTMLDivElement>(null)
  const open = useRef<Open>(undefined)
  const close = () => {
    open.current?.screen.disconnect()
    open.current = undefined
  }
  const line = useConsole({
    ...{ name, kind: 'vnc', readOnly },
    onStream() {
      close()
      if (place.current === null) return
      const channel = new ScreenChannel((data) => line.send(data))
      open.current = { channel, screen: newScreen(place.current, channel, name, readOnly) }
    },
    onBytes: (bytes) => open.current?.channel.hear(bytes),
  })
  useEffect(() => close, [])
  const [typing, setTyping] = useState<AbortController>()
  useEffect(() => () => typing?.abort(), [typing])
  const paste = async (text: string) => {
    const begun = new AbortController()
    setTyping(begun)
    await typeAll(text, press, begun.signal)
    setTyping((now) => (now === begun ? undefined : now))
  }
  const press = (keys: readonly (readonly [number, string | null])[]) => {
    const { screen } = open.current ?? {}
    if (screen === undefined) return
    for (const key of keys) screen.sendKey(...key, true)
    for (const key of keys.toReversed()) screen.sendKey(...key, false)
  }
  return (
    <Panel
      label={own.screenOf(name)}
      {...{ state: line.state, again: line.again, readOnly, place }}
      keys={COMBINATIONS.map(([label, keys]) => ({
        label,
        press() {
          press(keys)
          open.current?.screen.focus()
        },
      }))}
      paste={(text) => void paste(text)}
      note={
        typing !== undefined && (
          <Button variant="default" onClick={() => setTyping(undefined)}>
            {own.stopTyping}
          </Button>
        )
      }
      pasteText={own.pasteScreen}
      save={() =>
        open.current?.screen.toBlob((picture) => picture && saveAs(`${name}-screen.png`, picture), 'image/png')
      }
      saveLabel={own.savePicture}
    />
  )
}

function newScreen(place: HTMLElement, channel: ScreenChannel, name: string, readOnly: boolean): RFB {
  const screen = new RFB(place, channel, { shared: true })
  screen.scaleViewport = true
  screen.viewOnly = readOnly
  screen.background = 'transparent'
  const canvas = place.lastElementChild?.querySelector('canvas')
  canvas?.setAttribute('role', 'img')
  canvas?.setAttribute('aria-label', own.screenOf(name))
  return screen
}
