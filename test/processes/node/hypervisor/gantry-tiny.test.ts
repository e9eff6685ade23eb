// The bundled OS definition: its boot sector is what its source says, and its scripts do what Ganeti expects of them.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { OS_DIRECTORY, temporaryRoot } from '../../../support/hypervisor'

const BANNER_AT = 416
let root: string
beforeEach(() => (root = temporaryRoot()))
afterEach(() => fs.rmSync(root, { recursive: true }))

function run(script: string, env: Record<string, string>, args: string[] = [], input = '') {
  const result = spawnSync(path.join(OS_DIRECTORY, script), args, {
    cwd: OS_DIRECTORY,
    env: { PATH: '/sbin:/bin:/usr/sbin:/usr/bin', ...env },
    input,
  })
  return { code: result.status, stdout: result.stdout, stderr: result.stderr.toString() }
}

function bootSector(): Buffer {
  const text = fs.readFileSync(path.join(OS_DIRECTORY, 'boot.octal'), 'utf8')
  return Buffer.from(text.match(/[0-7]{3}/g)?.map((digits) => Number.parseInt(digits, 8)) ?? [])
}

function diskFile(): string {
  const file = path.join(root, 'disk')
  fs.writeFileSync(file, Buffer.alloc(1 << 20, 0xaa))
  return file
}

const canAssemble = ['as', 'ld'].every((tool) => spawnSync(tool, ['--version']).status === 0) && process.arch === 'x64'
const withTools = canAssemble ? test : test.skip

withTools('the bytes are what the source assembles to (binutils; skipped without: apt-get install -y binutils)', () => {
  const [object, binary] = [path.join(root, 'tiny.o'), path.join(root, 'tiny.bin')]
  const assembled = spawnSync('as', ['--32', '-o', object, path.join(OS_DIRECTORY, 'tiny.S')])
  expect(assembled.stderr.toString()).toBe('')
  const linked = spawnSync('ld', ['-m', 'elf_i386', '-Ttext', '0x7c00', '--oformat', 'binary', '-o', binary, object])
  expect(linked.stderr.toString()).toBe('')
  expect(bootSector()).toEqual(fs.readFileSync(binary))
})

test('the boot sector has 512 bytes, its signature, and an empty partition table', () => {
  const sector = bootSector()
  expect(sector.length).toBe(512)
  expect([sector[510], sector[511]]).toEqual([0x55, 0xaa])
  expect(sector.subarray(440, 510).every((byte) => byte === 0)).toBe(true)
  expect(sector.toString('latin1', BANNER_AT, BANNER_AT + 12)).toBe('gantry-tiny\0')
})

test('create writes the boot sector and leaves the rest of the disk as it was', () => {
  const file = diskFile()
  expect(run('create', { DISK_COUNT: '1', DISK_0_PATH: file, INSTANCE_NAME: 'vm' })).toMatchObject({
    code: 0,
    stderr: '',
  })
  const disk = fs.readFileSync(file)
  expect(disk.length).toBe(1 << 20)
  expect(disk.subarray(0, 512)).toEqual(bootSector())
  expect(disk.subarray(512).every((byte) => byte === 0xaa)).toBe(true)
})

test('the banner parameter is checked, and shown by the guest', () => {
  const file = diskFile()
  const disk = { DISK_COUNT: '1', DISK_0_PATH: file }
  expect(run('create', { ...disk, OSP_BANNER: 'hello, world 1.0' }).code).toBe(0)
  expect(fs.readFileSync(file).toString('latin1', BANNER_AT, BANNER_AT + 17)).toBe('hello, world 1.0\0')
  expect(run('verify', { OSP_BANNER: 'fine' }, ['parameters']).code).toBe(0)
  expect(run('verify', {}, ['parameters']).code).toBe(0)
  for (const bad of ['x'.repeat(24), 'a%s', 'a\nb', '$(id)'])
    for (const script of ['create', 'verify'])
      expect(run(script, { ...disk, OSP_BANNER: bad }, script === 'verify' ? ['parameters'] : [])).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^gantry-tiny: parameter banner (is longer than 23 characters|may have .* only)\n$/,
        ),
      })
  expect(run('verify', {}, ['surprise'])).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown check') })
})

test('an instance without a disk that can be written is refused', () => {
  expect(run('create', { DISK_COUNT: '0', INSTANCE_NAME: 'vm' })).toMatchObject({ code: 1 })
  expect(run('create', { DISK_COUNT: '1', DISK_0_PATH: '/no/disk' }).stderr).toMatch(
    'disk 0 (/no/disk) cannot be written',
  )
})

test('import restores the data that export dumps', () => {
  const file = diskFile()
  run('create', { DISK_COUNT: '1', DISK_0_PATH: file })
  const dump = spawnSync(path.join(OS_DIRECTORY, 'export'), {
    cwd: OS_DIRECTORY,
    env: { PATH: '/usr/bin:/bin', EXPORT_DEVICE: file },
    maxBuffer: 4 << 20,
  })
  const copy = path.join(root, 'copy')
  fs.writeFileSync(copy, '')
  const restored = spawnSync(path.join(OS_DIRECTORY, 'import'), {
    cwd: OS_DIRECTORY,
    env: { PATH: '/usr/bin:/bin', IMPORT_DEVICE: copy },
    input: dump.stdout,
  })
  expect(restored.status).toBe(0)
  expect(fs.readFileSync(copy).equals(fs.readFileSync(file))).toBe(true)
})

test('a rename succeeds and says what it did', () => {
  const result = run('rename', { OLD_INSTANCE_NAME: 'a', INSTANCE_NAME: 'b' })
  expect(result).toMatchObject({ code: 0 })
  expect(result.stdout.toString()).toContain('a is now b')
})
