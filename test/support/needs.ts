// Tests that need a package of the system: without it they are reported as skipped, with the one command that installs it.
import * as fs from 'node:fs'

/** `test`, or a reported skip where what it needs is not there. */
export function testWith(
  present: boolean,
  packages: string,
): (name: string, body: () => unknown, timeout_ms?: number) => void {
  if (present) return (name, body, timeout_ms) => test(name, async () => void (await body()), timeout_ms)
  const command = `apt-get install -y --no-install-recommends ${packages}`
  return (name) => {
    if (!present) test.skip(`${name} (needs: ${command})`, () => undefined)
  }
}

export const qemuPresent = ['/usr/bin/qemu-system-x86_64', '/usr/bin/kvm'].some((file) => fs.existsSync(file))

export const qemuTest = testWith(qemuPresent, 'qemu-system-x86')
