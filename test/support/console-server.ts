// A server for modules of the console that run without a browser. It answers each request from a table, and remembers the requests.

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly headers: Headers
}

type Answer = readonly [status: number, body: unknown]

const ORIGIN = 'https://cluster.example:5080'

/** Replaces the browser's functions until the test file ends, so it must be called before the modules are loaded. */
export function consoleServer(answer: (requested: Asked) => Answer | Promise<Answer>): Asked[] {
  const requested: Asked[] = []
  const whole = (input: string | URL | Request) => (typeof input === 'string' ? new URL(input, ORIGIN) : input)
  class WholeRequest extends Request {
    constructor(input: string | URL | Request, init?: RequestInit) {
      super(whole(input), init)
    }
  }
  const fetched = async (request: Request) => {
    const { pathname, search } = new URL(request.url)
    const text = await request.text()
    const one = { method: request.method, path: pathname + search, body: text === '' ? undefined : JSON.parse(text) }
    requested.push({ ...one, headers: request.headers })
    const [status, body] = await answer({ ...one, headers: request.headers })
    return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } })
  }
  Object.assign(globalThis, { location: new URL(ORIGIN), Request: WholeRequest, fetch: fetched })
  return requested
}
