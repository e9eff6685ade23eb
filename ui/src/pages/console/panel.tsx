// The frame of both kinds of consoles: the state of the connection, and the actions.
import { ActionIcon, Button, Group, Menu, Modal, ScrollArea, Text, Textarea } from '@mantine/core'
import { type ReactNode, type RefObject, useRef, useState } from 'react'
import { Icon, type IconName } from '../../icons/icon'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import type { ConsoleState } from './connection'

const own = texts.console

const TONES: Readonly<Record<ConsoleState['phase'], Tone>> = {
  ...{ opening: 'busy', connected: 'good', waiting: 'warn', lost: 'warn', over: 'bad' },
}

export interface KeyChoice {
  readonly label: string
  readonly press: () => void
}

interface PanelProps {
  readonly label: string
  readonly state: ConsoleState
  readonly again: () => void
  readonly readOnly: boolean
  readonly keys: readonly KeyChoice[]
  readonly paste: (text: string) => void
  /** A text that was pasted outside of the dialog and is too long to be typed without confirmation. */
  readonly pasted?: string
  readonly forgetPasted?: () => void
  readonly save: () => void
  readonly saveLabel: string
  readonly pasteText: string
  /** The element with the picture. */
  readonly place: RefObject<HTMLDivElement | null>
  readonly note?: ReactNode
}

export function Panel({ label, state, again, readOnly, keys, save, saveLabel, place, note, ...more }: PanelProps) {
  const whole = useRef<HTMLDivElement>(null)
  const [pasting, setPasting] = useState(false)
  const cannotType = readOnly || state.phase !== 'connected'
  const closePaste = () => {
    setPasting(false)
    more.forgetPasted?.()
  }
  return (
    <section className="console" aria-label={label} ref={whole}>
      <Group gap={8} justify="space-between" className="console-bar">
        <span role="status">
          <Status tone={TONES[state.phase]} text={own.phases[state.phase](state.node ?? '')} />
        </span>
        <Group gap={6}>
          {note}
          <Keys keys={keys} disabled={cannotType} />
          <Tool icon="paste" label={own.paste} disabled={cannotType} onClick={() => setPasting(true)} />
          <Tool icon="picture" label={saveLabel} onClick={save} />
          <Tool
            icon="whole"
            label={own.fullScreen}
            onClick={() => {
              if (document.fullscreenElement === null) void whole.current?.requestFullscreen()
              else void document.exitFullscreen()
            }}
          />
        </Group>
      </Group>
      <div className="console-place">
        <div className="console-picture" ref={place} />
        {state.phase !== 'connected' && <Veil state={state} again={again} />}
      </div>
      {(pasting || more.pasted !== undefined) && (
        <PasteDialog text={more.pasteText} initial={more.pasted ?? ''} paste={more.paste} close={closePaste} />
      )}
    </section>
  )
}

interface ToolProps {
  readonly icon: IconName
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

const Tool = ({ icon, label, disabled, onClick }: ToolProps) => (
  <ActionIcon variant="default" size={30} aria-label={label} title={label} disabled={disabled} onClick={onClick}>
    <Icon name={icon} size={16} />
  </ActionIcon>
)

function Keys({ keys, disabled }: { keys: readonly KeyChoice[]; disabled: boolean }) {
  return (
    <Menu position="bottom-end" withinPortal={false} returnFocus={false}>
      <Menu.Target>
        <Button variant="default" disabled={disabled} leftSection={<Icon name="keys" size={16} />}>
          {own.keys}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={320} type="auto">
          {keys.map(({ label, press }) => (
            <Menu.Item key={label} onClick={press}>
              {label}
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Covers the last picture while it may be out of date. */
function Veil({ state: { phase, text }, again }: { state: ConsoleState; again: () => void }) {
  if (phase === 'opening') return null
  return (
    <div className="console-veil">
      <Text size="sm" role={phase === 'over' ? 'alert' : undefined}>
        {text}
      </Text>
      <Text size="xs">{own.hints[phase]}</Text>
      {phase !== 'waiting' && (
        <Button variant="default" onClick={again}>
          {own.again}
        </Button>
      )}
    </div>
  )
}

interface PasteProps {
  readonly text: string
  readonly initial: string
  readonly paste: (text: string) => void
  readonly close: () => void
}

function PasteDialog({ text, initial, paste, close }: PasteProps) {
  const [typed, setTyped] = useState(initial)
  return (
    <Modal opened onClose={close} title={own.paste} size="lg" returnFocus={false}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          close()
          paste(typed)
        }}
      >
        <Textarea
          autosize
          minRows={4}
          maxRows={16}
          label={own.pasteLabel}
          description={text}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap={8} mt="sm">
          <Text size="sm" c="dimmed">
            {own.characters(typed.length)}
          </Text>
          <Button variant="default" onClick={close}>
            {texts.action.cancel}
          </Button>
          <Button type="submit" disabled={typed === ''}>
            {own.pasteSubmit}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
