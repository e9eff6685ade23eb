// Strategies of passport are asked in their order, may wait, and a wrong login is an error.
import { createApplication } from '../../../src/http/application'
import { identifyBy, LoginStrategy } from '../../../src/http/passport'
import { requestTo } from '../../support/request-to'

const requested: string[] = []

const strategy = (name: string) =>
  new LoginStrategy<{ user: string }>(name, ({ headers }) => {
    requested.push(name)
    const login = headers[`x-${name}`]
    if (login === undefined) return undefined
    if (login === 'throws') throw new Error('a wrong login')
    if (login === 'rejects') return Promise.reject(new Error('a wrong login'))
    return login === 'waits' ? new Promise((resolve) => setImmediate(() => resolve({ user: name }))) : { user: name }
  })

const identify = identifyBy([strategy('first'), strategy('second')])
const app = createApplication().use(async (request, response) => {
  const caller = await identify(request, response).catch((error: unknown) => ({ user: String(error) }))
  response.end(`${response.statusCode} ${caller?.user ?? 'nobody'}`)
})

beforeEach(() => void requested.splice(0))

test.each([
  [{}, '200 nobody', ['first', 'second']],
  [{ 'x-first': 'good' }, '200 first', ['first']],
  [{ 'x-first': 'waits', 'x-second': 'good' }, '200 first', ['first']],
  [{ 'x-second': 'good' }, '200 second', ['first', 'second']],
  [{ 'x-first': 'throws', 'x-second': 'good' }, '200 Error: a wrong login', ['first']],
  [{ 'x-first': 'rejects', 'x-second': 'good' }, '200 Error: a wrong login', ['first']],
])('%j', async (headers, said, names) => {
  const { text } = await requestTo(app).get('/').set(headers)
  expect([text, requested]).toEqual([said, names])
})
