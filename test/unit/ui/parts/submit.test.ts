// A request that is sent again is the same submission as long as nobody knows what became of the first one.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

let status = 0
const requested = consoleServer(() => {
  if (status === 0) throw new TypeError('no line')
  return status === 202 ? [202, { id: 7 }] : [status, { detail: 'told' }]
})

interface Submission {
  mutateAsync(): Promise<unknown>
}
const { useSubmit } = consoleModule<{ useSubmit(request: object, options: object): Submission }>('parts/submit.ts')

function submission(): Submission {
  const drawn: Submission[] = []
  const Probe = () => {
    const request = { method: 'PUT', path: '/3/instances/web1/reboot', body: {} }
    drawn.push(useSubmit(request, { label: 'Reboot', done: () => undefined }))
    return null
  }
  renderToStaticMarkup(createElement(QueryClientProvider, { client: new QueryClient() }, createElement(Probe)))
  const [one] = drawn
  if (one === undefined) throw new Error('nothing was drawn')
  return one
}

test.each([
  ['without an answer', 0, true],
  ['when the master was not reached', 502, true],
  ['when the master is busy', 503, true],
  ['when the master has not answered in time: the job may be there', 504, true],
  ['after a refusal', 409, false],
  ['after something was wrong', 400, false],
])('%s, the next try is the same submission or another one', async (_when, first, same) => {
  const { mutateAsync } = submission()
  requested.length = 0
  status = first
  await expect(mutateAsync()).rejects.toThrow()
  status = 202
  await mutateAsync()
  const keys = new Set(requested.map(({ headers }) => headers.get('Idempotency-Key')))
  expect([requested.length, keys.size]).toEqual([2, same ? 1 : 2])
})
