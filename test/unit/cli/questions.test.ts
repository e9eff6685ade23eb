// Every question that a command can ask names an option of that command which answers it beforehand.
import { ALL_TOOLS } from '../../support/all-tools'
import { cfgupgradeTool } from '../../../src/cli/cluster/cfgupgrade'
import { optionsOf } from '../../../src/cli/input/parse'
import { root, projectFiles } from '../../support/source-tree'
import type { ConfigData } from '../../../src/model/config'
import type { QueryResult } from '../../../src/rpc/luxi/calls'
import { FakeMaster } from '../../support/fake-master'
import { goldenConfig, goldenSource } from '../../support/golden-query'
import { runCli } from '../../support/run-cli'
import * as fs from 'node:fs'
import * as path from 'node:path'

/** A line for each place that asks; the option that answers may need a value. */
const ASKING: readonly (readonly [line: string, answer?: string])[] = [
  ['cfgupgrade --downgrade'],
  ['gnt-cluster deactivate-master-ip'],
  ['gnt-cluster epo node2.gnt.example'],
  ['gnt-cluster master-failover --no-voting'],
  ['gnt-cluster rename other'],
  ['gnt-cluster renew-crypto --new-node-certificates'],
  ['gnt-instance failover inst1'],
  ['gnt-instance failover --ignore-consistency inst1'],
  ['gnt-instance migrate inst1'],
  ['gnt-instance move -n node3 inst1'],
  ['gnt-instance reinstall inst1'],
  ['gnt-instance reinstall inst1 inst2'],
  ['gnt-instance reinstall --force --select-os inst1', '--os-type=noop'],
  ['gnt-instance remove inst1'],
  ['gnt-instance repair --all'],
  ['gnt-instance shutdown --all'],
  ['gnt-job cancel --pending'],
  ['gnt-node evacuate -I hail node2'],
  ['gnt-node failover node2'],
  ['gnt-node migrate node2'],
  ['gnt-node modify --offline=no node2'],
  ['gnt-node power off node2'],
  ['gnt-node powercycle node2'],
]
/**
 * Asked about the answer to another question, which test/unit/cli/allocation/tool.test.ts plays, and after a look at nodes of a real
 * Ganeti, which test/machines/adopt.test.ts has and answers with --yes-do-it.
 */
const ELSEWHERE = ['allocation/tool.ts', 'cluster/adopt.ts']

const ONE_JOB: QueryResult = {
  fields: [],
  data: [
    [
      [0, 7],
      [0, 'queued'],
      [0, ['x']],
    ],
  ],
}

function powered(): ConfigData {
  const config = goldenConfig()
  return {
    ...config,
    cluster: { ...config.cluster, ndparams: { ...config.cluster.ndparams, oob_program: '/sbin/oob' } },
  }
}

const run = (words: readonly string[], answers: string[] = []) => {
  const script = Array.from({ length: 9 }, (_, at) => ({ id: at + 1, result: [['noop', []]] }))
  const master = new FakeMaster(script, { ...goldenSource(), config: powered() })
  const query = master.query
  master.query = async (...question) => (question[0] === 'job' ? ONE_JOB : query(...question))
  return runCli(master, words, { answers })
}

const sites = new Set<string>()

test.each(ASKING.map(([line, answer]) => [line, answer] as const))('%s', async (line, answer) => {
  const [tool = '', ...words] = line.split(' ')
  const commands = [...ALL_TOOLS, cfgupgradeTool].find((one) => one.name === tool)?.commands ?? []
  // Some tools are one command, without a name.
  const command = commands.find(({ name }) => name === '' || name === words[0])
  const named = command?.name === '' ? [tool] : [tool, ...words.slice(0, 1)]
  const rest = line.split(' ').slice(named.length)
  const requested = await run([...named, ...rest], ['y', 'y', 'y'])
  const site = requested.askedAt.at(-1)
  const option = requested.answeredBy.at(-1) ?? ''
  sites.add(site ?? '')
  expect(command && optionsOf(command).flatMap(({ long }) => [...long])).toContain(option)
  // The option is an answer to this question; other questions may remain.
  expect((await run([...named, answer ?? option, ...rest])).askedAt).not.toContain(site)
})

test('no place that asks is left out', () => {
  const places = projectFiles('src/cli').flatMap((file) => {
    const lines = fs.readFileSync(path.join(root, file), 'utf8').split('\n')
    return lines.flatMap((line, at) =>
      /\b(confirm|confirmMany|ask)\(/.test(line) && !/function|^ *ask\(/.test(line)
        ? [`${path.relative('src/cli', file)}:${at + 1}`]
        : [],
    )
  })
  const ours = places.filter(
    (place) => ![...ELSEWHERE, 'input/confirm.ts', 'htools/mon-collector.ts'].includes(place.replace(/:.*/, '')),
  )
  expect([...sites].sort()).toEqual(ours.sort())
})
