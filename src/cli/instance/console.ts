// gnt-instance console: hands the terminal to the program that reaches the console.
import { pythonText } from '../../lib/text/python-text'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import { NO_DATA, OFFLINE } from '../../query/field'
import { quoteForShell } from '../../lib/ssh/ssh'
import { clusterSshOptions } from '../ssh'
import { firstArgument } from '../submit/submit'

const SSH_PORT = 22

/** Attaches the terminal to an instance's console, or prints where it is. */
export async function openConsole(call: Call): Promise<number> {
  const name = firstArgument(call)
  const filter = ['==', 'name', name]
  const [cluster] = await call.master.queryConfigValues(['cluster_name'])
  const { data } = await call.master.query('instance', ['console', 'oper_state', 'status'], filter)
  const [[reason, info] = [], [, running] = [], [, state] = []] = data[0] ?? []
  const show = call.options.flag('show_command')
  // The future place of a console can be shown before the instance runs.
  if (running === false && !(show && isConsole(info)))
    throw new CommandFailure(
      `Instance ${name} is not running (state ${pythonText(state)}), cannot connect to console; gnt instance start ${name} starts it`,
    )
  if (!isConsole(info)) {
    const why = reason === OFFLINE[0] ? 'is offline' : reason === NO_DATA[0] ? 'does not answer' : 'knows none'
    throw new CommandFailure(`The console of instance '${name}' is not known: its node ${why}`)
  }
  switch (info['kind']) {
    case 'msg':
      call.terminal.out(pythonText(info['message']))
      return EXIT.ok
    case 'vnc':
    case 'spice': {
      const { kind, host, port } = info
      call.terminal.out(`Instance ${name} has its console at ${kind}://${String(host)}:${String(port)}/`)
      return EXIT.ok
    }
    case 'ssh': {
      const command =
        call.nodesRoot !== undefined ? words(info['command']) : await sshCommand(call, info, String(cluster))
      if (!show) return call.terminal.hand(command)
      call.terminal.out(command.map(quoteForShell).join(' '))
      return EXIT.ok
    }
    default:
      throw new CommandFailure(`Consoles of kind '${pythonText(info['kind'])}' are not supported`)
  }
}

type Console = Readonly<Record<string, unknown>>

const isConsole = (value: unknown): value is Console => typeof value === 'object' && value !== null

const words = (command: unknown): string[] => (Array.isArray(command) ? command.map(String) : [String(command)])

async function sshCommand({ master }: Call, info: Console, cluster: string): Promise<string[]> {
  const port = info['port']
  const ipv6 = (await master.queryClusterInfo())['primary_ip_version'] === 6
  const elsewhere = typeof port === 'number' && port !== SSH_PORT ? { port } : {}
  return [
    'ssh',
    ...clusterSshOptions(cluster, { ...elsewhere, quiet: false, ipv6 }),
    '-t',
    '-t',
    `${pythonText(info['user'] ?? 'root')}@${pythonText(info['host'])}`,
    words(info['command']).map(quoteForShell).join(' '),
  ]
}
