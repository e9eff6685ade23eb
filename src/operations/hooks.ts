// Hook scripts around an opcode (spec: hooks.json). A script that fails before it stops it; failures after it are only
// reported. Also `config-update`, on the master after any opcode that changed the configuration.
import { pythonText } from '../lib/text/python-text'
import { HooksAbort, HooksFailure } from '../model/errors'
import type { Node } from '../model/config'
import { HOOK_RESULT } from '../model/constants/hooks'
import { HOOKS_PATH_ENV } from '../model/constants/paths'
import type { BoundHooks, HookAnswer, HookEnv, HookObject } from './logical-unit'
import type { UnitContext } from './unit-context'

type Phase = 'pre' | 'post'

const HOOKS_VERSION = '2'
const NO_ANSWER = { ok: false, error: 'no answer', offline: false } as const

export class HookRunner {
  private before: Record<string, string> = {}

  constructor(
    private readonly ctx: UnitContext,
    private readonly opId: string,
    private readonly hooks: BoundHooks | undefined,
  ) {}

  /** Throws HooksAbort if a script refuses the opcode. */
  async pre(): Promise<void> {
    if (this.hooks === undefined) return
    this.before = prefixed('GANETI_', await this.hooks.env(this.ctx, 'pre'))
    const { path, type } = this.hooks
    this.refuse('pre', await this.run(path, type, 'pre', this.before, this.hooks.nodes(this.ctx).pre))
  }

  /** `before` keeps its values; the current ones become GANETI_POST_*. Returns the opcode's result. */
  async post(result: unknown): Promise<unknown> {
    if (this.hooks === undefined) return result
    const { path, type, judge } = this.hooks
    const after = prefixed('GANETI_POST_', await this.hooks.env(this.ctx, 'post'))
    const env = { ...after, ...this.before }
    const answers = await this.run(path, type, 'post', env, this.hooks.nodes(this.ctx).post)
    if (judge !== undefined) return answers.length === 0 ? result : judge(this.ctx, result, answers)
    this.refuse('post', answers)
    return result
  }

  /** An extra post run on one node, for units that remove the node from the cluster before their own post run. */
  async postOn(node: Node): Promise<void> {
    if (this.hooks === undefined) return
    this.refuse('post', await this.run(this.hooks.path, this.hooks.type, 'post', this.before, [node.uuid], [node]))
  }

  async configUpdate(): Promise<void> {
    const { cluster } = await this.ctx.config.read({})
    const type = this.hooks?.type ?? 'CLUSTER'
    this.refuse('post', await this.run('config-update', type, 'post', this.before, [cluster.master_node]))
  }

  private async run(
    path: string,
    type: HookObject,
    phase: Phase,
    env: Record<string, string>,
    uuids: readonly string[],
    known?: readonly Node[],
  ): Promise<HookAnswer[]> {
    if (uuids.length === 0) return []
    const config = await this.ctx.config.read({ nodes: [...uuids] })
    const master = config.nodes[config.cluster.master_node]
    const nodes = known ?? Object.values(config.nodes).filter((node) => uuids.includes(node.uuid))
    const full = {
      PATH: HOOKS_PATH_ENV,
      GANETI_HOOKS_VERSION: HOOKS_VERSION,
      GANETI_OP_CODE: this.opId,
      GANETI_DATA_DIR: this.ctx.env.paths.virtual(this.ctx.env.paths.dataDir),
      GANETI_HOOKS_PHASE: phase,
      GANETI_HOOKS_PATH: path,
      GANETI_OBJECT_TYPE: type,
      GANETI_CLUSTER: config.cluster.cluster_name,
      GANETI_MASTER: master?.name ?? this.ctx.env.paths.hostname,
      ...env,
    }
    const results = await this.ctx.nodes.many(nodes, 'hooks_runner', [path, phase, full])
    return nodes.map((node) => ({ node, result: results.get(node.uuid) ?? NO_ANSWER }))
  }

  /** Before the run a failing script refuses the opcode; afterwards its failure is only reported. */
  private refuse(phase: Phase, answers: readonly HookAnswer[]): void {
    const refusals: [node: string, script: string, output: string][] = []
    let answered = answers.every(({ node }) => node.offline)
    for (const { node, result } of answers) {
      if (!result.ok && result.offline) continue
      if (!result.ok) {
        this.ctx.log.warning(`Communication failure to node ${node.name}: ${result.error}`)
        continue
      }
      answered = true
      for (const [script, code, output] of result.payload) {
        if (code !== HOOK_RESULT.failed) continue
        if (phase === 'pre') refusals.push([node.name, script, output])
        else this.ctx.log.warning(`On ${node.name} script ${script} failed, output: ${output || '(no output)'}`)
      }
    }
    if (phase === 'post') return
    if (!answered) throw new HooksFailure('Communication Failure')
    if (refusals.length > 0) throw new HooksAbort(refusals)
  }
}

function prefixed(prefix: string, env: HookEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [prefix + name, pythonText(value)]))
}
