// One node call from its body to its answer. Errors of handlers become answers; only bugs leave a stack in the log.
import { systemFailure } from '../lib/system-failure'
import { startOf } from '../lib/text/short-text'
import { GanetiError } from '../model/errors'
import { NODE_FAILURE_CHARS_MAX } from '../model/limits/node-calls'
import type { CallName } from '../rpc/node/calls'
import { decodeCall, encodeAnswer, messageOf } from '../rpc/node/protocol'
import type { NodeContext } from './context'
import { NodeFailure } from './failure'
import { runHandler } from './handlers/index'
import { HypervisorFailure } from './hypervisor/hypervisor'

export async function dispatch(context: NodeContext, name: CallName, body: string): Promise<string> {
  const started = context.clock.monotonic_ms()
  const { log } = context
  try {
    const payload = await runHandler(context, name, readArguments(context, name, body))
    const duration_ms = context.clock.monotonic_ms() - started
    context.measures.carriedOut(name, duration_ms / 1000)
    log.debug({ call: name, ms: Math.round(duration_ms) }, 'done')
    return encodeAnswer({ ok: true, payload })
  } catch (error) {
    const text = startOf(messageOf(error), NODE_FAILURE_CHARS_MAX)
    if (isAnswer(error)) {
      log.warn({ call: name, error: text }, 'failed')
      return encodeAnswer({ ok: false, text })
    }
    log.error({ call: name, err: error }, 'broke')
    return encodeAnswer({ ok: false, text: `Error while executing backend function: ${text}` })
  }
}

function readArguments<C extends CallName>(context: NodeContext, name: C, body: string) {
  try {
    return decodeCall(name, body, context.paths)
  } catch (error) {
    throw new NodeFailure(messageOf(error))
  }
}

const isAnswer = (error: unknown): boolean =>
  error instanceof NodeFailure ||
  error instanceof HypervisorFailure ||
  error instanceof GanetiError ||
  systemFailure(error) !== undefined
