// "Copy as curl" and "Copy as gnt": the request of a dialog, for scripts.
import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { sessionStore } from '../api/session-store'
import { texts } from '../texts'
import type { Request } from './request'

interface CopyProps {
  /** Each of several requests becomes a line. Thousands of requests are only made when the user copies them. */
  readonly request: Request | readonly Request[] | (() => readonly Request[])
  /** The text is copied but not shown. */
  readonly secret?: boolean
  /** Smaller, for the title of a card. */
  readonly small?: boolean
}

export function CopyAs({ request, secret = false, small = false }: CopyProps) {
  const displayed = typeof request !== 'function' && !secret
  const textOf = (one: (request: Request) => string) => () =>
    [typeof request === 'function' ? request() : request].flat().map(one).join('\n')
  return (
    <>
      <Copy
        label={texts.action.copyCurl}
        text={textOf((one) => curlText(one, location.origin))}
        shown={displayed}
        small={small}
        note={texts.action.curlNote}
      />
      <Copy label={texts.action.copyGnt} text={textOf(({ gnt }) => gnt)} shown={displayed} small={small} />
    </>
  )
}

interface OneProps {
  readonly label: string
  readonly text: () => string
  readonly shown: boolean
  readonly small: boolean
  readonly note?: string
}

function Copy({ label, text, shown: displayed, small, note }: OneProps) {
  const { copied, copy } = useClipboard()
  return (
    <Button
      variant="subtle"
      color="gray"
      c="dimmed"
      size={small ? 'compact-xs' : undefined}
      title={[...(displayed ? [text()] : []), ...(note === undefined ? [] : [note])].join('\n\n') || undefined}
      onClick={() => void copy(text())}
    >
      {copied ? texts.action.copied : label}
    </Button>
  )
}

/** A command without secrets: curl prompts for the password, and the shell knows the token. */
export function curlText({ method, path, body }: Request, origin: string): string {
  const isToken = typeof sessionStore.get().session?.token === 'string'
  const user = isToken ? 'curl -k -H "Authorization: Bearer $TOKEN"' : 'curl -k -u "$USER_NAME"'
  const url = quote(new URL(path, origin).href)
  if (Object.keys(body).length === 0) return `${user} -X ${method} ${url}`
  return `${user} -X ${method} -H 'Content-Type: application/json' ${url} -d ${quote(JSON.stringify(body))}`
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
