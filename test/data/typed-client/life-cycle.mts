// A client as any TypeScript program would have it: its types are generated from the contract, and the compiler checks every line here
// against them. It takes an instance through its life, through both versions of the API, and prints what it saw.
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

type Job = components['schemas']['Job']
type Opcode = components['schemas']['AnyOpcode']

const [, , baseUrl, password] = process.argv
const authorization = `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
const client = createClient<paths>({ baseUrl, headers: { authorization } })
const path = { name: 'vm1' }

async function main() {
  const create: Opcode = {
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm1', mode: 'create', disk_template: 'diskless', disks: [] },
    ...{ nics: [], os_type: 'gantry-tiny', no_install: true, start: false, pnode: 'node1.gantry.local' },
  }
  const created = await submitted([create])
  const [first] = created.ops
  // The discriminator tells which result this is.
  say('created on', first?.OP_ID === 'OP_INSTANCE_CREATE' && first.result?.join())

  say('startup', await ended((await client.PUT('/2/instances/{name}/startup', { params: { path } })).data))
  const { data: running } = await client.GET('/2/instances/{name}', { params: { path } })
  say('is', running?.status, running?.oper_ram, running?.pnode)

  const { data, response } = await client.GET('/3/instances/{name}', {
    params: { path, query: { fields: 'status,be/maxmem' } },
  })
  const tag = response.headers.get('etag') ?? ''
  say('has', data?.['be/maxmem'])
  const grow: Opcode = { OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'vm1', beparams: { maxmem: 192 } }
  say('modify', (await submitted([grow], { 'If-Match': tag })).status)
  const again = await client.POST('/3/jobs', { params: { header: { 'If-Match': tag } }, body: { ops: [grow] } })
  // Errors are typed too.
  say('again', again.error?.status, again.error?.code)

  const tags = { params: { path, query: { tag: ['web', 'test'] } } }
  say('tags', await ended((await client.PUT('/2/instances/{name}/tags', tags)).data))
  say('tagged', (await client.GET('/2/instances/{name}/tags', { params: { path } })).data)
  const reboot = { params: { path }, body: { shutdown_timeout: 5 } }
  say('reboot', await ended((await client.POST('/2/instances/{name}/reboot', reboot)).data))
  const wait = { path, header: { Prefer: 'wait=60' } }
  const shutdown = await client.POST('/3/instances/{name}/shutdown', { params: wait, body: { timeout: 5 } })
  say('shutdown', shutdown.data && 'status' in shutdown.data && shutdown.data.status)
  const rename = { params: { path }, body: { new_name: 'vm2' } }
  say('rename', await ended((await client.PUT('/2/instances/{name}/rename', rename)).data))

  const page = await client.GET('/3/instances', { params: { query: { fields: 'name,tags', limit: 10 } } })
  say('listed', page.data?.items, page.data?.next)
  const gone = { params: { path: { name: 'vm2' } } }
  const removed = await client.DELETE('/3/instances/{name}', { params: { ...wait, ...gone.params } })
  say('remove', removed.data && 'status' in removed.data && removed.data.status)
  const missing = await client.GET('/3/instances/{name}', gone)
  say('missing', missing.response.status, missing.error?.title)
}

async function submitted(ops: Opcode[], header: { 'If-Match'?: string } = {}): Promise<Job> {
  const { data, error } = await client.POST('/3/jobs', { params: { header }, body: { ops, reason: 'a typed client' } })
  if (data === undefined) throw new Error(error.detail)
  return job(data.id)
}

async function ended(id: number | undefined): Promise<string> {
  if (id === undefined) throw new Error('the job was refused')
  return (await job(id)).status
}

async function job(id: number): Promise<Job> {
  for (;;) {
    const { data, error } = await client.GET('/3/jobs/{id}', { params: { path: { id } } })
    if (data === undefined) throw new Error(error.detail)
    if (['success', 'error', 'canceled'].includes(data.status)) return data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function say(...words: unknown[]): void {
  console.log(JSON.stringify(words))
}

void main()
