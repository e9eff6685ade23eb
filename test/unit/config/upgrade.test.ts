// Configurations that Ganeti wrote are read, refused or upgraded, and written back in its form.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import { seededRandom } from '../../../src/lib/random'
import { encodeConfig } from '../../../src/config/encode'
import { ssconfValues } from '../../../src/config/ssconf'
import { loadConfig } from '../../../src/config/upgrade'
import { ConfigurationError } from '../../../src/model/errors'

const data = (name: string) => readFileSync(path.join(__dirname, '../../data/config', name), 'utf8')
const golden = (name: string) => readFileSync(path.join(__dirname, '../../golden/state', name), 'utf8')
const load = (text: string) => loadConfig(text, seededRandom(1))

test('a configuration that Ganeti wrote is written back with its keys in the same order (floats differ only in notation)', () => {
  const text = golden('config.data')
  const { config, notices } = load(text)
  expect(notices).toEqual([])
  expect(encodeConfig(config)).toBe(JSON.stringify(JSON.parse(text)))
})

test.each(['3.0', '3.1'])(
  'the configuration of Ganeti %s loads, component disks getting uuids with a notice',
  (version) => {
    const { config, notices } = load(data(`cluster_config_${version}.json`))
    const drbd = Object.values(config.disks).filter((disk) => disk.dev_type === 'drbd')
    expect(drbd.length).toBeGreaterThan(0)
    expect(drbd.flatMap((disk) => disk.children.map((child) => child.uuid)).every((uuid) => uuid.length === 36)).toBe(
      true,
    )
    expect(notices).toEqual([
      expect.stringMatching(/^disk 77ced3a5-.*: 2 of its component disks had no uuid and got one$/),
    ])
    const again = load(encodeConfig(config))
    expect(again.notices).toEqual([])
    expect(encodeConfig(again.config)).toBe(encodeConfig(config))
  },
)

test('an older configuration is refused with the way to upgrade it', () => {
  expect(() => load(data('cluster_config_2.16.json'))).toThrow(ConfigurationError)
  expect(() => load(data('cluster_config_2.16.json'))).toThrow(/Ganeti 2\.16.*tools\/cfgupgrade on the master/)
})

test('a newer configuration is refused', () => {
  const newer = golden('config.data').replace('"version":3000000', '"version":3020000')
  expect(() => load(newer)).toThrow(/version 3\.2 .*newer than 3\.1/)
})

test('an unknown key is refused with its name and its object', () => {
  const [uuid, instance] = Object.entries(load(golden('config.data')).config.instances)[0] ?? ['', undefined]
  const text = golden('config.data').replace(`"name":"${instance?.name}"`, `"colour":"red","name":"${instance?.name}"`)
  expect(() => load(text)).toThrow(`unknown key "colour" in instance "${instance?.name}" (${uuid})`)
})

test.each([
  [
    '"admin_state":"up"',
    '"admin_state":"sideways"',
    /admin_state: expected one of "down", "offline", "up", found "sideways"/,
  ],
  ['"hypervisor":"fake",', '', /key "hypervisor" is missing in instance/],
  ['"ip":"10.99.0.2"', '"ip":7', /nics\[0\] *: ip: expected a text, found 7/],
  ['"mtime":', '"mtime":"', /not JSON .*restore it from a master candidate/],
])('%s turned into %s is refused', (from, to, message) => {
  expect(() => load(golden('config.data').replace(from, to))).toThrow(message)
})

test('the ssconf files are the ones that Ganeti made of the same configuration', () => {
  const values = ssconfValues(load(golden('config.data')).config, '3.0.2')
  expect(Object.keys(values)).toHaveLength(34)
  for (const [key, text] of Object.entries(values)) expect([key, text]).toEqual([key, golden(`ssconf_${key}`)])
})
