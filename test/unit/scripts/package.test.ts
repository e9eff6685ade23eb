// Units and files of the packages follow from the tables of the product.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { describePrograms, fillGantry } from '../../../scripts/package/contents'
import { manualPages } from '../../../scripts/package/man'
import { SANDBOX } from '../../../scripts/package/sandbox'
import { Tree } from '../../../scripts/package/tree'
import { packagedRoles, unitFiles } from '../../../scripts/package/units'
import { TOOLS } from '../../../src/cli/program'
import { DAEMON_ACTIONS } from '../../../src/roles/helpers'
import { root } from '../../support/source-tree'

const units = unitFiles()
const linesOf = (name: string): string[] => (units[name] ?? '').split('\n')

test('each daemon has a unit, which runs it under its account and waits for no unit that is not there', () => {
  for (const { program, user, group } of packagedRoles) {
    const lines = linesOf(`${program}.service`)
    expect(lines).toEqual(expect.arrayContaining([`User=${user}`, `Group=${group}`, 'Type=notify']))
    const named = lines.filter((line) => /^(After|PartOf|Requires|WantedBy)=/.test(line)).join(' ')
    for (const [unit] of named.matchAll(/ganeti[\w-]*\.\w+/g)) expect(Object.keys(units)).toContain(unit)
  }
})

test('the package makes the account of each daemon', () => {
  const script = fs.readFileSync(path.join(root, 'packaging/maintainer/gantry.postinst'), 'utf8')
  const made = (kind: string) => new RegExp(`for ${kind} in (.*); do`).exec(script)?.[1]?.split(' ')
  const ours = packagedRoles.filter(({ user }) => user !== 'root')
  expect(made('user')?.map((name) => `gnt-${name}`)).toEqual(expect.arrayContaining(ours.map(({ user }) => user)))
  expect(made('group')).toEqual(expect.arrayContaining(ours.map(({ group }) => group)))
  expect(ours.length).toBeGreaterThan(5)
})

test('no daemon is left out of those that are shut in', () => {
  const { rapi, ...others } = SANDBOX
  // @ts-expect-error a daemon is missing
  const forgetful: typeof SANDBOX = others
  expect(rapi.length).toBeGreaterThan(20)
  expect(Object.keys(SANDBOX).sort()).toEqual([...Object.keys(forgetful), 'rapi'].sort())
  for (const { name, program } of packagedRoles)
    expect(linesOf(`${program}.service`)).toEqual(expect.arrayContaining(SANDBOX[name].map((line) => line.join('='))))
})

test('what the place of a daemon depends on is a condition of its unit', () => {
  const conditions = (program: string) =>
    linesOf(`${program}.service`).filter((line) => line.startsWith('ExecCondition='))
  expect(conditions('ganeti-noded')).toEqual([])
  expect(conditions('ganeti-luxid')).toEqual([
    'ExecCondition=/usr/bin/grep -qsxF -e %H /var/lib/ganeti/ssconf_master_node',
  ])
  expect(conditions('ganeti-confd')).toEqual([
    'ExecCondition=/usr/bin/grep -qsxF -e %H /var/lib/ganeti/ssconf_master_candidates',
  ])
  expect(conditions('ganeti-kvmd')).toEqual(
    [
      'kvm /var/lib/ganeti/ssconf_hypervisor_list',
      'True /var/lib/ganeti/ssconf_enabled_user_shutdown',
      '%H=True /var/lib/ganeti/ssconf_node_vm_capable',
    ].map((words) => `ExecCondition=/usr/bin/grep -qsxF -e ${words}`),
  )
})

test('the name that init scripts have reaches every daemon, and waits for what starts them', () => {
  const of = (name: string, key: string) =>
    linesOf(name)
      .filter((line) => line.startsWith(`${key}=`))
      .flatMap((line) => line.slice(key.length + 1).split(' '))
  const above = (name: string): string[] =>
    of(name, 'PartOf').flatMap((part) => (part === 'ganeti.service' ? [part] : [part, ...above(part)]))
  const waited = of('ganeti.service', 'After')
  for (const { program } of packagedRoles) {
    const chain = above(`${program}.service`)
    expect(chain.at(-1)).toBe('ganeti.service')
    for (const target of chain.slice(0, -1)) expect(waited).toContain(target)
  }
  // Whichever of the two is started or stopped, the other one is, too.
  expect([of('ganeti.service', 'Wants'), of('ganeti.service', 'PartOf')]).toEqual([
    ['ganeti.target'],
    ['ganeti.target'],
  ])
  expect(of('ganeti.target', 'Wants')).toEqual(['ganeti.service'])
})

test('an upgrade that was cut off goes on when the machine starts, and only then', () => {
  const lines = linesOf('ganeti-upgrade.service')
  expect(lines).toContain('ConditionPathExists=/var/lib/ganeti/intent-to-upgrade')
  expect(lines).toContain('ExecStart=/usr/sbin/gnt-cluster upgrade --resume')
  // It stops and starts the daemons, and must not end with them.
  expect(lines.filter((line) => /^(PartOf|Requires|BindsTo|WantedBy)=/.test(line))).toEqual([
    'WantedBy=multi-user.target',
  ])
  for (const [name, text] of Object.entries(units))
    if (name !== 'ganeti-upgrade.service') expect(text).not.toContain('ganeti-upgrade')
})

test('guests and jobs outlive the daemons that started them', () => {
  for (const unit of ['ganeti-noded.service', 'ganeti-luxid.service', 'ganeti-watcher.service'])
    expect(linesOf(unit)).toContain('KillMode=process')
})

test('nothing that starts often, and what it waits for, is given up for that', () => {
  const services = Object.entries(units).filter(([name]) => name.endsWith('.service'))
  expect(services.length).toBeGreaterThan(packagedRoles.length)
  for (const [name, text] of services)
    expect([name, text]).toEqual([name, expect.stringContaining('StartLimitIntervalSec=0\n')])
})

test('every tool and daemon has a manual page with all of its commands', async () => {
  const pages = await manualPages('2026-01-01')
  for (const { program } of packagedRoles) expect(pages[`${program}.8`]).toContain('.SH OPTIONS')
  for (const { load } of Object.values(TOOLS)) {
    const { name, commands } = await load()
    for (const command of commands) expect(pages[`${name}.8`]).toContain(`.SS "${command.name.replaceAll('-', '\\-')}"`)
  }
})

test('shells complete the words of every program that people call by its name', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gp-'))
  try {
    const treeOf = (name: string) => new Tree(path.join(folder, name))
    const [gantry, htools, adopt] = [treeOf('gantry'), treeOf('htools'), treeOf('adopt')] as const
    fillGantry(gantry)
    const programs = gantry.files().flatMap((file) => /^usr\/s?bin\/(.*)/.exec(file)?.[1] ?? [])
    expect(programs).toEqual(expect.arrayContaining(['gnt', 'gnt-node', 'ganeti-noded', 'ganeti-watcher']))
    await describePrograms(gantry, htools, adopt, '2026-01-01')
    for (const [tree, desired] of [
      [gantry, programs],
      [adopt, ['gantry-adopt']],
    ] as const) {
      const files = tree.files()
      const zsh = files.find((file) => file.startsWith('usr/share/zsh/'))
      const first = fs.readFileSync(path.join(tree.root, String(zsh)), 'utf8').split('\n')[0]
      expect(first?.split(' ').slice(1).sort()).toEqual([...desired].sort())
      for (const name of desired)
        expect(files).toEqual(
          expect.arrayContaining([
            `usr/share/bash-completion/completions/${name}`,
            `usr/share/fish/vendor_completions.d/${name}.fish`,
          ]),
        )
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

test('so has every program for scripts of a node, and for a master that comes over SSH', async () => {
  const pages = await manualPages('2026-01-01')
  for (const name of [
    'daemon-util',
    'ensure-dirs',
    'ssh-update',
    'ssl-update',
    'prepare-node-join',
    'node-daemon-setup',
  ])
    expect(pages[`${name}.8`]).toContain(`usage: ${name.replaceAll('-', '\\-')}`)
  for (const action of Object.keys(DAEMON_ACTIONS))
    expect(pages['daemon-util.8']).toMatch(new RegExp(`^  ${action.replaceAll('-', '\\\\-')} `, 'm'))
})

test('no line of a manual page is taken for a request that it is not', async () => {
  const known = /^\.(TH|SH|SS|TP|PP|nf|fi|\\")/
  const lines = Object.values(await manualPages('2026-01-01')).flatMap((page) => page.split('\n'))
  expect(lines.filter((line) => /^[.']/.test(line) && !known.test(line))).toEqual([])
})
