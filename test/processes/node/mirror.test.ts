// QEMU opens a mirrored disk in user space and discards what it has written: both copies take no room for it any more.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock as clock } from '../../../src/lib/clock'
import { systemFiles as files } from '../../../src/lib/files'
import { silentLog as log } from '../../../src/lib/log'
import { systemRandom as random } from '../../../src/lib/random'
import { runCommand as run } from '../../../src/lib/programs/run-command'
import { SERVED_EXPORT } from '../../../src/model/constants/disks'
import { MirroredDisk } from '../../../src/node/mirror/mirror'
import { writeFreshNotes } from '../../../src/node/mirror/notes'
import { eventually } from '../../support/hypervisor'
import { testWith } from '../../support/needs'

const QEMU_IO = '/usr/bin/qemu-io'
const SIZE = 16 << 20
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gm-'))
const disks: MirroredDisk[] = []
afterAll(async () => {
  for (const disk of disks)
    await eventually(() =>
      disk.down().then(
        () => true,
        () => undefined,
      ),
    )
  fs.rmSync(folder, { recursive: true })
})

const inFolder = (name: string): string => path.join(folder, name)

async function side(name: string, peer: string): Promise<MirroredDisk> {
  const [data, meta] = [inFolder(`${name}.data`), inFolder(`${name}.meta`)]
  for (const [file, size] of [
    [data, SIZE],
    [meta, 1 << 20],
  ] as const) {
    fs.writeFileSync(file, '')
    fs.truncateSync(file, size)
  }
  await writeFreshNotes(files, meta)
  const disk = new MirroredDisk({ files, run, clock, random, log }, inFolder(`${name}.sock`))
  disks.push(disk)
  await disk.attach({ data, meta }, SIZE)
  if (name === 'a') await disk.promote(true)
  const ends = { local: inFolder(`${name}.link`), remote: inFolder(`${peer}.link`) }
  await disk.connect({ ...ends, secret: 's', dual: false, rate_kib: 0 })
  return disk
}

/** In bytes. */
const roomOf = (name: string): number => fs.statSync(inFolder(`${name}.data`)).blocks * 512

testWith(fs.existsSync(QEMU_IO), 'qemu-utils')(
  'what QEMU discards takes no room on either side, and what it fills with zeros keeps its room',
  async () => {
    const sides = [await side('a', 'b'), await side('b', 'a')] as const
    const [a] = sides
    const states = () =>
      sides.map(({ status }) => `${status.connection} ${status.disk}/${status.peerDisk}${status.why ?? ''}`)
    await eventually(() => a.status.connection === 'Connected' || undefined)
    const target = `nbd+unix:///${SERVED_EXPORT}?socket=${inFolder('a.sock')}`
    const qemuIo = async (...commands: string[]): Promise<void> => {
      const words = commands.flatMap((command) => ['-c', command])
      const { code, output } = await run([QEMU_IO, '-f', 'raw', '-d', 'unmap', ...words, target], { timeout_s: 60 })
      expect({ code, output }).toMatchObject({ code: 0 })
      expect(output).not.toMatch(/failed|error/i)
    }
    await qemuIo(`write -P 120 0 ${SIZE}`)
    expect([states(), ...['a', 'b'].map((name) => Math.min(roomOf(name), SIZE))]).toEqual([
      Array(2).fill('Connected UpToDate/UpToDate'),
      ...[SIZE, SIZE],
    ])
    await qemuIo('discard 1M 15M', 'read -P 120 0 1M', 'read -P 0 1M 15M')
    expect(['a', 'b'].map((name) => roomOf(name) < 2 << 20)).toEqual([true, true])
    await qemuIo('write -z 2M 4M')
    expect(['a', 'b'].map((name) => roomOf(name) >= 5 << 20)).toEqual([true, true])
  },
)
