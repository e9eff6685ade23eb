// "Copy as curl" and "Copy as gnt": what a dialog is about to do, for a script.
import { Button, CopyButton } from '@mantine/core'
import { texts } from '../texts'

export interface Request {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** The same on the master's command line. */
  readonly gnt: string
}

export function CopyAs({ request }: { request: Request }) {
  return (
    <>
      <Copy label={texts.action.copyCurl} text={curlText(request, location.origin)} />
      <Copy label={texts.action.copyGnt} text={request.gnt} />
    </>
  )
}

function Copy({ label, text }: { label: string; text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button variant="subtle" color="gray" onClick={copy} title={text} c="dimmed">
          {copied ? texts.action.copied : label}
        </Button>
      )}
    </CopyButton>
  )
}

/** curl asks for the password itself. */
export function curlText({ method, path, body }: Request, origin: string): string {
  const user = 'curl -k -u "$USER_NAME"'
  const url = quote(new URL(path, origin).href)
  if (Object.keys(body).length === 0) return `${user} -X ${method} ${url}`
  return `${user} -X ${method} -H 'Content-Type: application/json' ${url} -d ${quote(JSON.stringify(body))}`
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
