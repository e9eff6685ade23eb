// Client certificates: checks that each node's own is valid, and that the cluster's list contains exactly those of the
// candidates.
import type { Node } from '../../../model/config'
import type { GroupState } from './group-state'
import type { VerifyReport } from './report'

const RENEW = "use 'gnt-cluster renew-crypto --new-node-certificates'"

export function verifyClientCertificates(report: VerifyReport, { config, images }: GroupState): void {
  const listed = config.cluster.candidate_certs
  const digests = Object.values(listed)
  if (report.when(digests.length === 0, ...cluster(`The list of candidates' certificates is empty; ${RENEW}`))) return
  report.when(
    new Set(digests).size !== digests.length,
    ...cluster(`Two master candidates are listed with the same certificate; ${RENEW}`),
  )
  for (const { node, answer } of images) {
    const reported = answer['client-cert']
    if (!Array.isArray(reported)) continue
    const [code, text]: unknown[] = reported
    if (code !== null) {
      const problem = `Client certificate of node '${node.name}' failed validation: ${String(text)}`
      report.error(...cluster(`${problem}; ${RENEW}`), code === 'WARNING' ? 'WARNING' : 'ERROR')
    } else verifyEntry(report, node, listed, String(text))
  }
}

function verifyEntry(report: VerifyReport, node: Node, listed: Readonly<Record<string, string>>, digest: string): void {
  const entry = listed[node.uuid]
  const another = Object.entries(listed).some(([uuid, other]) => uuid !== node.uuid && other === digest)
  if (node.master_candidate) {
    report.when(
      entry === undefined,
      ...cluster(`The master candidate '${node.name}' is not in the list of candidates' certificates; ${RENEW}`),
    )
    report.when(
      entry !== undefined && entry !== digest,
      ...cluster(
        `Master candidate '${node.name}' uses another certificate than the list says (expected ${entry}, got ${digest}); ${RENEW}`,
      ),
    )
  } else {
    report.when(
      entry !== undefined,
      ...cluster(`Node '${node.name}' is no master candidate, but in the list of candidates' certificates; ${RENEW}`),
    )
  }
  report.when(another, ...cluster(`Node '${node.name}' uses the certificate of another node; ${RENEW}`))
}

const cluster = (text: string): ['ECLUSTERCLIENTCERT', null, string] => ['ECLUSTERCLIENTCERT', null, text]
