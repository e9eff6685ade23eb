// The bundled OS definition for cloud images: which images its scripts take, and what they say of others.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import * as path from 'node:path'
import { cloudInitProblems } from '../../../src/model/cloud-init/parameters'
import { systemFiles } from '../../../src/lib/files'
import { readDefinition } from '../../../src/node/os-definition'
import { runProgram } from '../../support/run-program'
import { temporaryRoot } from '../../support/hypervisor'
import { testWith } from '../../support/needs'

const DEFINITION = path.resolve(__dirname, '../../../os/cloud-image')
const MIB = 1 << 20
const present = (...files: string[]) => files.some((file) => fs.existsSync(file))
const qemuImgTest = testWith(present('/usr/bin/qemu-img'), 'qemu-utils')
const fetchTest = testWith(present('/usr/bin/curl', '/usr/bin/wget'), 'curl')

let root: string
let disk: string
beforeEach(() => {
  root = temporaryRoot()
  disk = path.join(root, 'disk')
  fs.writeFileSync(disk, Buffer.alloc(4 * MIB, 0xaa))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

async function run(script: string, env: Record<string, string>, ...args: string[]) {
  const known = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', TMPDIR: root, INSTANCE_NAME: 'web1' }
  const child = spawn(path.join(DEFINITION, script), args, {
    cwd: DEFINITION,
    env: { ...known, DISK_COUNT: '1', DISK_0_PATH: disk, DISK_0_SIZE: '4', ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  const [code] = (await once(child, 'close')) as [number]
  return { code, output: output.trim() }
}

const create = (image: string) => run('create', { OSP_IMAGE: image })

/** Jest takes seconds to compare so many bytes one by one. */
const expectImage = (image: string) =>
  expect(
    fs
      .readFileSync(disk)
      .subarray(0, MIB + 512)
      .equals(fs.readFileSync(image)),
  ).toBe(true)

/** A raw image that is no whole number of MiB. */
function rawImage(): string {
  const file = path.join(root, 'raw')
  fs.writeFileSync(file, Buffer.alloc(MIB + 512, 'cloud '))
  return file
}

/** The header of an image in qcow2, with some bytes changed. */
function qcow2Header(changes: Record<number, number>): string {
  const bytes = Buffer.alloc(512)
  bytes.write('514649fb00000003', 'hex')
  for (const [at, value] of Object.entries(changes)) bytes[Number(at)] = value
  const file = path.join(root, 'qcow2')
  fs.writeFileSync(file, bytes)
  return file
}

test('the definition is complete, and the node knows each parameter that it lists for cloud-init', async () => {
  const { api, parameters, trusted } = await readDefinition(systemFiles, 'cloud-image', DEFINITION)
  expect({ api, trusted }).toEqual({ api: 20, trusted: true })
  const unknown = parameters.filter(([name]) => cloudInitProblems({ [name]: '\0' }).length === 0)
  expect(unknown.map(([name]) => name)).toEqual(['image'])
  expect(parameters.every(([, description]) => description !== '')).toBe(true)
})

test('a raw image is the beginning of the disk, whose rest stays', async () => {
  const image = rawImage()
  expect(await create(image)).toEqual({ code: 0, output: `image ${image} installed on ${disk} for web1` })
  const bytes = fs.readFileSync(disk)
  expect(bytes.length).toBe(4 * MIB)
  expectImage(image)
  expect(bytes.at(-1)).toBe(0xaa)
})

qemuImgTest('an image in qcow2 is unfolded', async () => {
  const [raw, image] = [rawImage(), path.join(root, 'image.qcow2')]
  await runProgram('qemu-img', ['convert', '-c', '-f', 'raw', '-O', 'qcow2', raw, image])
  expect(await create(image)).toMatchObject({ code: 0 })
  expectImage(raw)
})

fetchTest('an image comes from an address, and nothing of it is left', async () => {
  const server = http.createServer((request, response) => {
    if (request.url !== '/raw') response.writeHead(404)
    response.end(request.url === '/raw' ? fs.readFileSync(raw) : undefined)
  })
  const raw = rawImage()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    expect(await create(`${address}/raw`)).toMatchObject({ code: 0 })
    expectImage(raw)
    const missing = await create(`${address}/none`)
    expect(missing).toMatchObject({
      code: 1,
      output: expect.stringContaining(`image ${address}/none cannot be fetched`),
    })
    expect(fs.readdirSync(root).sort()).toEqual(['disk', 'raw'])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

async function expectRefused(image: string, text: RegExp) {
  const { code, output } = await create(image)
  expect(code).toBe(1)
  expect(output).toMatch(text)
  expect(fs.readFileSync(disk).equals(Buffer.alloc(4 * MIB, 0xaa))).toBe(true)
}

test.each([
  ['another image', { 8: 1 }, /is only the changes to another image/],
  ['a file beside it', { 79: 4 }, /keeps its data in another file/],
])('an image in qcow2 that needs %s is refused', (_what, changes, text) => expectRefused(qcow2Header(changes), text))

qemuImgTest('an image in qcow2 that needs a larger disk is refused', () =>
  expectRefused(qcow2Header({ 28: 1 }), /the image has 16 MiB, and disk 0 only 4/),
)

test('what is no image, or has no room, is refused with the way out', async () => {
  const file = (name: string, data: Buffer) => {
    fs.writeFileSync(path.join(root, name), data)
    return path.join(root, name)
  }
  const refused = async (image: string) => (await create(image)).output
  expect(await refused(file('a.gz', Buffer.from('1f8b0800', 'hex')))).toMatch(/a\.gz is compressed: unpack it first$/)
  expect(await refused(file('empty', Buffer.alloc(0)))).toMatch(/empty is empty$/)
  expect(await refused(file('big', Buffer.alloc(4 * MIB + 1)))).toMatch(/make it larger \(--disk 0:size=5m\)$/)
  expect(await refused(path.join(root, 'none'))).toMatch(/none is no file on this node$/)
  expect(await refused('relative.img')).toMatch(/parameter image must be an absolute path or an http or https address$/)
  expect((await run('verify', {}, 'parameters')).output).toMatch(/parameter image is missing: give -O image=FILE/)
  expect(await run('verify', { OSP_IMAGE: '/x.img' }, 'parameters')).toEqual({ code: 0, output: '' })
})

test('a dump of the disk goes out and comes in', async () => {
  const dump = path.join(root, 'dump')
  const inDefinition = (command: string, device: string, file: string) =>
    runProgram('sh', ['-c', `cd "$1" && ${command}`, 'sh', DEFINITION, device, file])
  await inDefinition('EXPORT_DEVICE="$2" ./export >"$3"', disk, dump)
  expect(fs.readFileSync(dump).equals(fs.readFileSync(disk))).toBe(true)
  fs.writeFileSync(disk, Buffer.alloc(4 * MIB))
  await inDefinition('IMPORT_DEVICE="$2" ./import <"$3"', disk, dump)
  expect(fs.readFileSync(disk).equals(fs.readFileSync(dump))).toBe(true)
})
