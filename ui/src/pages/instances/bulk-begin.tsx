// Starts a run over many instances. It continues after its dialog is closed, and the tray shows its progress.
import { api, got, request as send } from '../../api/client'
import { Problem } from '../../api/problem'
import { sessionStore } from '../../api/session-store'
import type { Values } from '../../forms/schema'
import { begun } from '../../parts/started-jobs'
import { errorOf, type Job } from '../../parts/job'
import { idOf } from '../../parts/submit'
import { withPlan } from '../../parts/use-plan'
import { texts } from '../../texts'
import type { BulkAction } from './bulk-actions'
import { BulkProgress } from './bulk-progress'
import { BulkRun, type Doors, type Looked } from './bulk-run'

const words = texts.instances.bulk

/** The plan that the user saw. Jobs for these instances are refused if anything that the plan has read has changed. */
export interface ShownPlan {
  readonly id: string
  readonly names: readonly string[]
}

export async function beginBulk(
  { action }: BulkAction,
  names: readonly string[],
  input: Values,
  plan?: ShownPlan,
): Promise<void> {
  const key = crypto.randomUUID()
  const { error: failed = '', canceled = '' } = texts.jobs.status
  const run = new BulkRun(names, doorsOf(action, input, plan), { failed, canceled, gone: words.gone })
  begun.addRun({
    ...{ key, label: words.title(action.label, names.length), user: sessionStore.get().session?.user ?? '' },
    view: <BulkProgress run={run} id={key} />,
  })
  // Leaving the page would stop the run, so the browser asks first, even if the run is hidden.
  const ask = (event: BeforeUnloadEvent) => event.preventDefault()
  addEventListener('beforeunload', ask)
  await run.start()
  removeEventListener('beforeunload', ask)
}

const doorsOf = (action: BulkAction['action'], input: Values, plan?: ShownPlan): Doors => ({
  async submit(name, key) {
    const { method, path, body } = action.request({ name }, input)
    const planned = plan?.names.includes(name) ? withPlan(path, plan.id) : path
    return idOf(await send(method, planned, body, { 'Idempotency-Key': key }))
  },
  ...{ cleared, jobs: jobsOf, job: jobOf },
})

const TRY_AGAIN_MS = 5000

/** Waits for problems that pass and concern no single instance: the session has ended, or the server is away or busy. */
export function cleared(error: unknown): Promise<void> | undefined {
  if (!(error instanceof Problem)) return undefined
  const { status } = error
  if (status === 401) return signedIn()
  if (status !== 0 && status !== 429 && status < 502) return undefined
  return new Promise((resolve) => void setTimeout(resolve, TRY_AGAIN_MS))
}

/** Resolves when somebody has signed in again. This is the same user, because the page is reloaded for another one. */
function signedIn(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (sessionStore.get().state !== 'open') return
      leave()
      resolve()
    }
    const leave = sessionStore.subscribe(look)
    look()
  })
}

const PAGE = 200

async function jobsOf(ids: readonly number[]): Promise<Looked[]> {
  const pages = Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, at) => ids.slice(at * PAGE, (at + 1) * PAGE))
  const jobs: Looked[] = []
  for (const page of pages) {
    const filter = JSON.stringify(['|', ...page.map((id) => ['==', 'id', id])])
    const query = { filter, include: 'error', limit: PAGE }
    jobs.push(...(await got(api.GET('/3/jobs', { params: { query } }))).items.map(lookedAt))
  }
  return jobs
}

async function jobOf(id: number): Promise<Looked | undefined> {
  try {
    return lookedAt(await got(api.GET('/3/jobs/{id}', { params: { path: { id } } })))
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  }
}

const lookedAt = (job: Job): Looked => ({ id: job.id, status: job.status, why: errorOf(job) })
