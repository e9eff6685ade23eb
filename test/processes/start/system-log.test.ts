// Where a daemon that systemd did not start has its lines from, as syslog sees it: a double takes the place of logger.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemLog } from '../../../src/start/system-log'
import { eventually } from '../../support/hypervisor'

test('lines go to syslog under the name of the daemon, with their priorities', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'system-log-'))
  const { PATH, JOURNAL_STREAM } = process.env
  try {
    const got = path.join(folder, 'got')
    const program = `#!/bin/sh\necho "$*" > ${folder}/words\nread line\necho "$line" > ${got}.new\nmv ${got}.new ${got}\n`
    fs.writeFileSync(path.join(folder, 'logger'), program, { mode: 0o755 })
    process.env['PATH'] = `${folder}:${PATH}`
    delete process.env['JOURNAL_STREAM']
    systemLog('ganeti-noded').write('<3>it failed\n')
    const line = await eventually(async () => (fs.existsSync(got) ? fs.readFileSync(got, 'utf8') : undefined))
    expect(line).toBe('<3>it failed\n')
    expect(fs.readFileSync(`${folder}/words`, 'utf8')).toBe('--prio-prefix --priority daemon.info --tag ganeti-noded\n')
  } finally {
    process.env['PATH'] = PATH
    if (JOURNAL_STREAM !== undefined) process.env['JOURNAL_STREAM'] = JOURNAL_STREAM
    fs.rmSync(folder, { recursive: true })
  }
})
