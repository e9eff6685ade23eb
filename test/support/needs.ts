// Tests that need a package of the system. Without the package they are reported as skipped, with the command that installs it.
import * as fs from 'node:fs'

/** Returns `test`, or a function that reports a skipped test if something that it needs is missing. */
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
