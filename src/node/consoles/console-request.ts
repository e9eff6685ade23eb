// The first message on a console's connection to a node: which console of which instance.
import { Mismatch } from '../../lib/shapes/shape'
import { type NodeConsoleRequest, nodeConsoleRequest } from '../../rpc/node/consoles'
import { NodeFailure } from '../failure'

export function readConsoleRequest(text: unknown): NodeConsoleRequest {
  try {
    return nodeConsoleRequest.parse(JSON.parse(String(text)))
  } catch (error) {
    throw new NodeFailure(`that asks for no console: ${error instanceof Mismatch ? error.message : 'it is not JSON'}`)
  }
}
