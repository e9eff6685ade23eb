// Makes the opcode that changes one operating system's settings, which are stored in parameters of the cluster.
import { isObject } from '../../../lib/shapes/shape'
import { OpClusterSetParams } from '../../../opcodes/cluster'
import type { ParsedOpCode } from '../../../opcodes/index'
import { badRequest } from '../../../http/errors'
import { readParameters } from './job-request'

export function osChange(name: string, body: unknown): ParsedOpCode {
  if (!isObject(body)) throw badRequest('The body must be an object')
  const { hvparams, osparams, osparams_private: secret, hidden, blacklisted, ...others } = body
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw badRequest(`${unknown}: there is no such property`)
  const listed = (what: string, flag: unknown) => {
    if (flag === undefined) return null
    if (typeof flag !== 'boolean') throw badRequest(`${what}: must be true or false`)
    return [[flag ? 'add' : 'remove', name]]
  }
  const of = (value: unknown) => (value === undefined ? null : { [name]: value })
  return readParameters(OpClusterSetParams, {
    ...{ os_hvp: of(hvparams), osparams: of(osparams), osparams_private_cluster: of(secret) },
    ...{ hidden_os: listed('hidden', hidden), blacklisted_os: listed('blacklisted', blacklisted) },
  })
}
