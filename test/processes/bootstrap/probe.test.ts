// What a node tells of the arguments of its daemons: a shell reads them, whatever an administrator has written for one.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { argumentsProbe, readFacts, SAY } from '../../../src/bootstrap/adoption/probe'

test('arguments of daemons are told as a shell reads them, however they are quoted, and as they are written', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probe-'))
  try {
    const file = path.join(folder, 'ganeti')
    const lines = [
      '# RAPI_ARGS="--never"',
      'NODED_ARGS="-b 192.0.2.1"',
      "RAPI_ARGS='-b 127.0.0.1' # this machine alone",
      'CONFD_ARGS=-d',
      'MOND_ARGS=""',
      'BIND=192.0.2.1',
      'export LUXID_ARGS="-d --syslog=$BIND"',
      'EXTRA_NODED_ARGS="-p \\',
      '1811"',
    ]
    fs.writeFileSync(file, lines.join('\n'))
    const output = execFileSync('sh', ['-c', `${SAY}\n${argumentsProbe(file)}`], { encoding: 'utf8' })
    const { arguments: input, written } = readFacts(output)
    expect(Object.fromEntries(input)).toEqual({
      ...{ NODED_ARGS: '-b 192.0.2.1', RAPI_ARGS: '-b 127.0.0.1', CONFD_ARGS: '-d' },
      ...{ LUXID_ARGS: '-d --syslog=192.0.2.1', EXTRA_NODED_ARGS: '-p 1811' },
    })
    expect(written.get('NODED_ARGS')).toBe('"-b 192.0.2.1"')
    expect(written.get('RAPI_ARGS')).toBe("'-b 127.0.0.1' # this machine alone")
    expect(written.get('LUXID_ARGS')).toBeUndefined()
    expect(execFileSync('sh', ['-c', `${SAY}\n${argumentsProbe(`${file}.missing`)}`], { encoding: 'utf8' })).toBe('')
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
