// Two clusters as a move sees them, through their remote APIs: what each was asked to do, in one list, and instances that come and go.
import { clockAt } from '../../../support/instant-clock'
import { runCli } from '../../../support/run-cli'
import { FakeMaster } from '../../../support/fake-master'
import { moveTool } from '../../../../src/cli/move/tool'
import { type Rapi, RapiRefusal, RapiSilence, type RapiVerb } from '../../../../src/rpc/rapi/client'

export type Job = { result: unknown } | { error: unknown; log?: unknown[] } | 'silence'

const INVITATION = { disks: [['10.0.0.1', 4711, 'magic', 'digest', 'salt']], x509_ca: 'CA of the receiver' }
const invites = [1, [0, 0], 'remote-import', INVITATION]
const says = (text: string): unknown[] => [2, [0, 0], 'message', text]

export const PREREQ = (text: string, code: string): Job => ({ error: ['OpPrereqError', [text, code]] })
/** A job that fails after its instance was made. */
export const BROKEN: Job = { error: ['OpExecError', ['Not all disks of instance vm1 were imported']] }

const INFO = {
  ...{ name: 'vm1', config_state: 'up', os: 'debian', disk_template: 'plain', hypervisor: 'kvm' },
  disks: [{ size: 1024, mode: 'rw', name: null, spindles: null }],
  nics: [['nic', 'uuid', '10.0.0.9', 'aa:00:00:00:00:01', 'bridged', 'br0', '', 'net-uuid', { name: 'blue' }]],
  ...{ hv_instance: { acpi: false }, be_instance: { vcpus: 2 }, os_instance: { size: 'small' } },
}

export class Clusters {
  /** What was done, in its order: `source PUT /2/instances/vm1/shutdown`. */
  readonly done: string[] = []
  readonly bodies = new Map<string, Record<string, unknown>>()
  readonly source = new Set(['vm1'])
  readonly destination = new Set<string>()
  /** How the destination's jobs that create the instance end; the last one stays. */
  creations: Job[] = [{ result: ['node1'] }]
  exported: Job = { result: [true, [true]] }
  removed: Job = { result: null }
  iallocator = 'hail'
  /** The destination. */
  isGantry = true
  info: Record<string, unknown> = INFO

  private readonly jobs: { job: Job; told?: true }[] = []

  async move(...words: string[]) {
    const fixed = ['--src-ca-file', __filename, 'a.example.com', 'b.example.com']
    const [options, names] = [
      words.filter((word) => word.startsWith('-')),
      words.filter((word) => !word.startsWith('-')),
    ]
    const tool = moveTool(({ host }) => (host.startsWith('a') ? this.rapi('source') : this.rapi('destination')))
    const input = ['', ...options, ...fixed, ...(names.length === 0 ? ['vm1'] : names)]
    return runCli(new FakeMaster(), input, { tool, clock: clockAt(1e12) })
  }

  private rapi(side: 'source' | 'destination'): Rapi {
    return {
      call: async (verb, resource, body) => {
        const wait = /^\/2\/jobs\/(\d+)\/wait$/.exec(resource)
        if (wait) return this.news(Number(wait[1]))
        if (resource === '/3/session' && this.isGantry) return { user: 'admin' }
        if (resource === '/2/info') return { name: side, default_iallocator: this.iallocator }
        const [, name] = /^\/2\/instances\/([^/?]+)$/.exec(resource) ?? []
        if (verb === 'GET' && name !== undefined) {
          if (this[side].has(name)) return { name, tags: ['web'] }
          throw new RapiRefusal(404, 'Nothing matches the given URI')
        }
        if (resource === '/3/session') throw new RapiRefusal(404, 'Nothing matches the given URI')
        const title = `${side} ${verb} ${resource}`
        this.done.push(title)
        if (typeof body === 'object' && body !== null) this.bodies.set(title, { ...body })
        return this.jobs.push({ job: this.jobOf(side, verb, resource, name) }) - 1
      },
    }
  }

  private jobOf(side: 'source' | 'destination', verb: RapiVerb, resource: string, name: string | undefined): Job {
    if (resource.endsWith('/info?static=1')) return { result: { vm1: this.info } }
    if (resource.includes('prepare-export'))
      return {
        result: { handshake: [0, 'digest', 'salt'], x509_key_name: ['key', 'd', 's'], x509_ca: 'CA of the sender' },
      }
    if (resource.endsWith('/export')) return this.exported
    if (verb === 'POST') {
      const job = (this.creations.length > 1 ? this.creations.shift() : this.creations[0]) ?? 'silence'
      if (job === 'silence' || 'result' in job || job === BROKEN) this.destination.add('vm1')
      return job
    }
    if (verb === 'DELETE' && name !== undefined) {
      if (this.removed !== 'silence' && 'result' in this.removed) this[side].delete(name)
      return this.removed
    }
    return { result: null }
  }

  /** A job that makes an instance first says where it waits for the data. */
  private news(id: number): unknown {
    const entry = this.jobs[id]
    if (entry === undefined) return { job_info: null, log_entries: [] }
    const { job } = entry
    const creates = this.creations.includes(job) && (job === 'silence' || 'result' in job || job === BROKEN)
    if (creates && !entry.told) {
      entry.told = true
      return { job_info: ['running', [null]], log_entries: [invites] }
    }
    if (job === 'silence') throw new RapiSilence('connect ECONNREFUSED')
    if ('result' in job) return { job_info: ['success', [job.result]], log_entries: [says('all is well')] }
    return { job_info: ['error', [job.error]], log_entries: [] }
  }
}
