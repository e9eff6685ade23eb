// What rotates the logs, as logrotate itself reads it.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { testWith } from '../../support/needs'

const PROGRAM = '/usr/sbin/logrotate'
const FILE = path.join(__dirname, '../../../packaging/logrotate')

testWith(fs.existsSync(PROGRAM) && process.getuid?.() === 0, 'logrotate (and be root)')(
  'logrotate takes what the package has for the logs of daemons',
  () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'logrotate-'))
    try {
      const logs = path.join(folder, 'logs')
      fs.mkdirSync(logs, { mode: 0o750 })
      fs.writeFileSync(path.join(logs, 'node-daemon.log'), '{}\n')
      const read = path.join(folder, 'ganeti')
      // The account and the folder of the package are those of an installed one.
      const text = fs.readFileSync(FILE, 'utf8').replace('/var/log/ganeti', logs).replace(/su .*/, 'su root root')
      expect(text).toContain(`${logs}/*.log {`)
      fs.writeFileSync(read, text, { mode: 0o644 })
      const { status, stderr } = spawnSync(PROGRAM, ['--debug', '--force', '--state', `${folder}/state`, read], {
        encoding: 'utf8',
      })
      expect([status, stderr]).toEqual([0, expect.stringContaining(`rotating pattern: ${logs}/*.log`)])
      expect(stderr).toContain(`considering log ${logs}/node-daemon.log`)
      expect(stderr).toContain('log needs rotating')
      expect(stderr).not.toMatch(/^error/m)
    } finally {
      fs.rmSync(folder, { recursive: true })
    }
  },
)
