// Explains why `rbd` has failed and what to do, as far as its output tells.
import type { CommandResult } from '../../../lib/programs/run-command'
import { said } from '../tools'

/**
 * The exit code of `rbd` if the image or its pool does not exist. It also exits so without a keyring, and then it has not asked Ceph at
 * all.
 */
const MISSING = 2

export const isMissingImage = ({ code, output }: Pick<CommandResult, 'code' | 'output'>): boolean =>
  code === MISSING && !UNREACHED.test(output)

interface Asked {
  readonly pool: string
  readonly user: string
  readonly name: string
  readonly snapshot?: string
}

export function rbdProblem(
  { code, output, timedOut }: Pick<CommandResult, 'code' | 'output' | 'timedOut'>,
  { pool, user, name, snapshot }: Asked,
): string {
  const who = `client.${user === '' ? 'admin' : user}`
  const keyring = `/etc/ceph/ceph.${who}.keyring`
  const words = said(withoutProgress(output))
  const reported = words === '' ? '' : `: ${words}`
  if (/unable to find a keyring|no keyring found/.test(output))
    return `there is no keyring of ${who}; put ${keyring} there, from a machine of the Ceph cluster${reported}`
  if (/monclient: keyring not found/.test(output) || (UNREACHED.test(output) && REFUSED.has(code)))
    return `Ceph does not take the key of ${who}; run 'ceph auth get ${who}' on a machine of the Ceph cluster, and put its output into ${keyring}${reported}`
  if (timedOut)
    return `Ceph did not answer in time; see there with 'ceph -s' whether its monitors run and its placement groups are active${reported}`
  if (/error opening pool/.test(output))
    return `Ceph has no pool '${pool}', or ${who} may not use it; make it with 'ceph osd pool create ${pool}', or change the disk parameter pool${reported}`
  if (/File exists/.test(output))
    return snapshot === undefined
      ? `it exists already; 'gnt-instance info --static --all' names the disks of all instances, and 'rbd status ${pool}/${name}' tells who uses it: only if no disk has this name, and nobody of another cluster needs it, 'rbd rm ${pool}/${name}' removes it${reported}`
      : `it exists already; give the snapshot another name${reported}`
  if (/kernel module|modprobe/.test(output))
    return `the kernel's module rbd is missing there; install it, or give the disks access=userspace${reported}`
  if (/has snapshots/.test(output))
    return `it has snapshots, which 'rbd snap ls ${pool}/${name}' lists; when nobody needs any of them, 'rbd snap purge ${pool}/${name}' removes them${reported}`
  if (/Operation not permitted/.test(output))
    return `${who} may not do that in pool '${pool}'; it may after 'ceph auth caps ${who} mon "profile rbd" osd "profile rbd pool=${pool}"'${reported}`
  if (UNREACHED.test(output))
    return `Ceph cannot be reached; see there with 'ceph -s' whether the monitors that /etc/ceph/ceph.conf names run${reported}`
  return words
}

const UNREACHED = /couldn.t connect to the cluster/
/** The error numbers for "not permitted" and "access denied". */
const REFUSED: ReadonlySet<number | null> = new Set([1, 13])

/** Removes the time stamps of the library's log lines, and progress messages that overwrite each other. */
const withoutProgress = (output: string): string =>
  output
    .split('\n')
    .map((line) =>
      line.replace(/^.*\d+% complete\.\.\.(?=failed|done)/, '').replace(/^\d{4}-\d\d-\d\dT\S+ \w+ +-?\d+ /, ''),
    )
    .join('\n')
