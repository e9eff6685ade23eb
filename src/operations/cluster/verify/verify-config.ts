// OP_CLUSTER_VERIFY_CONFIG: checks that need no node.
import { recordValues } from '../../../config/records'
import { verifyConfig } from '../../../config/verify'
import { certificateEnd_ms } from '../../../lib/tls'
import { errorText } from '../../../lib/system-failure'
import type { ConfigData } from '../../../model/config'
import { CLUSTER_ONLY_HVPARAMS, HV_PARAMS } from '../../../model/constants/hypervisors'
import { PATH } from '../../../model/constants/paths'
import { GanetiError } from '../../../model/errors'
import { checkHvParams } from '../../../model/hv-check'
import { enforceTypes } from '../../../model/param-types'
import { readNote, unfinishedUpgrade } from '../../../model/upgrade-note'
import { OpClusterVerifyConfig } from '../../../opcodes/cluster'
import { all, logicalUnit, shared } from '../../logical-unit'
import type { UnitContext } from '../../unit-context'
import { hvSources } from './hv-sources'
import { VerifyReport } from './report'

export const clusterVerifyConfig = logicalUnit(OpClusterVerifyConfig, {
  locks: () => ({
    instance: shared(all),
    nodegroup: shared(all),
    node: shared(all),
    'node-res': shared(all),
    network: shared(all),
  }),
  // Reads the whole configuration, because a slice omits unreferenced objects, which matter here.
  check: (ctx) => ctx.env.wconfd.readConfig(),
  async run(ctx, op, config) {
    const report = new VerifyReport(ctx, op)
    report.say('* Verifying cluster config')
    for (const problem of verifyConfig(config)) report.error('ECLUSTERCFG', null, problem)
    await verifyUpgrade(ctx, report)
    report.say('* Verifying cluster certificate files')
    await verifyCertificateFiles(ctx, report)
    report.say('* Verifying hypervisor parameters')
    verifyHvParams(report, config)
    report.say('* Verifying all nodes belong to an existing group')
    verifyPlaces(report, config)
    return report.good
  },
})

/** A running upgrade accepts no jobs. So this one was cut off, and somebody opened the queue again. */
async function verifyUpgrade({ env }: UnitContext, report: VerifyReport): Promise<void> {
  const upgrade = readNote(await env.masterFile?.(PATH.INTENT_TO_UPGRADE))
  if (upgrade !== undefined) report.error('ECLUSTERCFG', null, unfinishedUpgrade(upgrade), 'WARNING')
}

const CERTIFICATES = [PATH.NODED_CERT_FILE, PATH.RAPI_CERT_FILE, PATH.SPICE_CERT_FILE, PATH.SPICE_CACERT_FILE]
const REQUIRED: readonly string[] = [PATH.NODED_CERT_FILE, PATH.RAPI_CERT_FILE]
const DAY_MS = 86_400_000
const WARNING_DAYS = 30
const ERROR_DAYS = 7
const RENEW = "renew it with 'gnt-cluster renew-crypto'"

async function verifyCertificateFiles(ctx: UnitContext, report: VerifyReport): Promise<void> {
  const { masterFile, clock } = ctx.env
  if (masterFile === undefined) return
  for (const path of CERTIFICATES) {
    const pem = await masterFile(path)
    if (report.when(pem === undefined && REQUIRED.includes(path), 'ECLUSTERCERT', null, `${path} is missing; ${RENEW}`))
      continue
    if (pem !== undefined) verifyCertificate(report, path, pem, clock.now_ms())
  }
}

function verifyCertificate(report: VerifyReport, path: string, pem: string, now_ms: number): void {
  try {
    const days = Math.floor((certificateEnd_ms(pem) - now_ms) / DAY_MS)
    const text =
      days < 0
        ? `Certificate expired ${-days} days ago; ${RENEW}`
        : `Certificate expires in about ${days} days; ${RENEW}`
    const severity = days < ERROR_DAYS ? 'ERROR' : 'WARNING'
    report.when(days < WARNING_DAYS, 'ECLUSTERCERT', null, `While verifying ${path}: ${text}`, severity)
  } catch (error) {
    const reason = errorText(error)
    report.error('ECLUSTERCERT', null, `Failed to load X509 certificate ${path}: ${reason}`)
  }
}

function verifyHvParams(report: VerifyReport, config: ConfigData): void {
  for (const [source, hypervisor, params] of hvSources(config, recordValues(config.instances))) {
    try {
      const types = Object.fromEntries(Object.entries(HV_PARAMS[hypervisor]).map(([name, { type }]) => [name, type]))
      // Older configurations keep obsolete parameters, which do no harm.
      const known = Object.fromEntries(Object.entries(params).filter(([name]) => Object.hasOwn(types, name)))
      enforceTypes(known, types)
      checkHvParams(hypervisor, known)
    } catch (error) {
      if (!(error instanceof GanetiError)) throw error
      const what = `hypervisor ${hypervisor} parameters syntax check (source ${source})`
      report.error('ECLUSTERCFG', null, `${what}: ${error.message}`)
    }
  }
  for (const instance of recordValues(config.instances)) {
    const wrong = Object.keys(instance.hvparams).filter((name) => CLUSTER_ONLY_HVPARAMS.includes(name))
    const text = `instance ${instance.name} has its own values of cluster-wide hypervisor parameters: ${wrong.join(', ')}`
    report.when(wrong.length > 0, 'ECLUSTERCFG', null, text)
  }
}

/** Finds nodes and instances that no group's check covers. */
function verifyPlaces(report: VerifyReport, { nodes, nodegroups, instances }: ConfigData): void {
  const dangling = recordValues(nodes).filter((node) => nodegroups[node.group] === undefined)
  const displayed = dangling.map((node) => {
    const own = recordValues(instances).filter((instance) => instance.primary_node === node.uuid)
    return `${node.name} (${own.map((instance) => instance.name).join(', ')})`
  })
  report.when(
    dangling.length > 0,
    'ECLUSTERDANGLINGNODES',
    null,
    `the following nodes (and their instances) belong to a non existing group: ${displayed.join(', ')}`,
  )
  const homeless = recordValues(instances).filter((instance) => nodes[instance.primary_node] === undefined)
  report.when(
    homeless.length > 0,
    'ECLUSTERDANGLINGINST',
    null,
    `the following instances have a non-existing primary-node: ${homeless.map(({ name }) => name).join(', ')}`,
  )
}
