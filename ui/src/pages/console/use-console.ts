// Keeps a console connection open while its panel is mounted.
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { ConsoleConnection, type ConsoleKind, type ConsoleState } from './connection'

interface UseConsole {
  readonly name: string
  readonly kind: ConsoleKind
  readonly readOnly: boolean
  readonly onStream: () => void
  readonly onBytes: (bytes: ArrayBuffer) => void
}

export interface ConsoleLine {
  readonly state: ConsoleState
  send(data: Uint8Array<ArrayBuffer>): void
  again(): void
}

export function useConsole({ name, kind, readOnly, ...hears }: UseConsole): ConsoleLine {
  const [state, setState] = useState<ConsoleState>({ phase: 'opening' })
  const connection = useRef<ConsoleConnection>(undefined)
  const onStream = useEffectEvent(() => hears.onStream())
  const onBytes = useEffectEvent((bytes: ArrayBuffer) => hears.onBytes(bytes))
  useEffect(() => {
    const open = new ConsoleConnection({
      ...{ name, kind, readOnly, onState: setState },
      onStream: () => onStream(),
      onBytes: (bytes) => onBytes(bytes),
    })
    connection.current = open
    return () => open.close()
  }, [name, kind, readOnly])
  return {
    state,
    send: (data) => connection.current?.send(data),
    again: () => connection.current?.again(),
  }
}
