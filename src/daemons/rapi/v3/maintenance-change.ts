// Makes the opcode that changes settings of maintenance, which are parameters of the cluster.
import { badRequest } from '../../../http/errors'
import { isObject } from '../../../lib/shapes/shape'
import { OpPrereqError } from '../../../model/errors'
import { maintenanceParameters } from '../../../model/maintenance'
import { OpClusterSetParams } from '../../../opcodes/cluster'
import type { ParsedOpCode } from '../../../opcodes/index'
import { readParameters } from './job-request'

export function maintenanceChange(body: unknown): ParsedOpCode {
  if (!isObject(body)) throw badRequest('The body must be an object')
  try {
    return readParameters(OpClusterSetParams, maintenanceParameters(body))
  } catch (error) {
    throw error instanceof OpPrereqError ? badRequest(error.message) : error
  }
}
