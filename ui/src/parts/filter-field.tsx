// The filter field above a list. It follows the address, and changes it shortly after the user has typed.
import { TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useState } from 'react'

const TOGETHER_MS = 250

interface FilterFieldProps {
  readonly label: string
  readonly value: string | undefined
  readonly width?: number
  /** Gets undefined if the field is empty. */
  readonly change: (value: string | undefined) => void
}

export function FilterField({ label, value, width, change }: FilterFieldProps) {
  const { typed, setTyped, send } = useTyped(value ?? '', (next) => change(next === '' ? undefined : next))
  const sendSoon = useDebouncedCallback(send, TOGETHER_MS)
  return (
    <TextInput
      type="search"
      w={width}
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        sendSoon(event.currentTarget.value)
      }}
    />
  )
}

/** The text of a field. It follows the given value, unless the field itself set that value: the user may have typed more since. */
export function useTyped(value: string, change: (value: string) => void) {
  const [typed, setTyped] = useState(value)
  const [followed, setFollowed] = useState(value)
  const [sent, setSent] = useState(value)
  if (followed !== value) {
    setFollowed(value)
    setSent(value)
    if (sent !== value) setTyped(value)
  }
  const send = (next: string) => {
    setSent(next)
    change(next)
  }
  return { typed, setTyped, send }
}
