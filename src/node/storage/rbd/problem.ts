// Why `rbd` could not do something, and the way out, where its words tell.
import type { CommandResult } from '../../../lib/run-command'
import { said } from '../tools'

export function rbdProblem(
  { output, timedOut }: Pick<CommandResult, 'output' | 'timedOut'>,
  { pool, user }: { readonly pool: string; readonly user: string },
): string {
  const who = `client.${user === '' ? 'admin' : user}`
  const words = said(withoutProgress(output))
  const told = words === '' ? '' : `: ${words}`
  if (/unable to find a keyring|no keyring found/.test(output))
    return `there is no keyring of ${who}; put /etc/ceph/ceph.${who}.keyring there, from a machine of the Ceph cluster${told}`
  if (timedOut)
    return `Ceph did not answer in time; see there with 'ceph -s' whether its monitors run and its placement groups are active${told}`
  if (/error opening pool/.test(output))
    return `Ceph has no pool '${pool}', or ${who} may not use it; make it with 'ceph osd pool create ${pool}', or change the disk parameter pool${told}`
  if (/has snapshots/.test(output))
    return `it has snapshots; remove them with 'rbd snap purge' when nobody needs them${told}`
  if (/couldn.t connect to the cluster/.test(output))
    return `Ceph cannot be reached; see there with 'ceph -s' whether the monitors that /etc/ceph/ceph.conf names run${told}`
  return words
}

/** Log lines of the library begin with their time; progress is written over itself. */
const withoutProgress = (output: string): string =>
  output
    .split('\n')
    .map((line) =>
      line.replace(/^.*\d+% complete\.\.\.(?=failed|done)/, '').replace(/^\d{4}-\d\d-\d\dT\S+ \w+ +-?\d+ /, ''),
    )
    .join('\n')
