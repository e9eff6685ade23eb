// The options of gantryd: what they are called, and what stands in its help.
import { parseArgs } from 'node:util'
import { ACCESS_LEVELS } from '../../daemons/rapi/access-log'
import { errorText } from '../../lib/system-failure'
import { EXIT } from '../../model/constants/daemons'

export type Options = ReturnType<typeof readOptions>

export const USAGE = `usage: gantryd ROLE [options]

roles:
  node      this node's daemons: starts them, and starts them again when they die
  noded     obeys the master on this node
  wconfd    keeps the configuration and the locks (master)
  luxid     keeps the job queue and answers questions (master)
  rapi      the remote API (master)
  sim       answers for all nodes of a recorded cluster
  fold      writes plain files from the journals, config.data and jobs, for other tools; no daemon may run
  embedded  a cluster of virtual nodes on this machine: what "npm start" runs; see "gantryd embedded --help"

programs that a master runs here over SSH, with a request on the standard input; they have these names, too:
  ssh-update         changes the lists of SSH keys
  prepare-node-join  gives this node the cluster's host keys, and lets its candidates in
  node-daemon-setup  gives it the cluster's certificate, and starts its daemons

options:
  -b, --bind ADDRESS             listen here (noded: the node's address; rapi: may be repeated, default all)
  -p, --port PORT                listen on this port
      --no-voting --yes-do-it    start without asking the other nodes who is master
      --no-require-authentication  rapi: reads need no login, as in Ganeti
      --access-log LEVEL         rapi: requests in its log: none, changes (and what is refused or fails; the default), all
      --simulated                node: "sim" answers for the nodes
      --config FILE, --state FILE, --socket PATH   sim: recorded configuration, where it keeps its state, where it listens
  -h, --help                     this text
      --version                  the version

GANETI_ROOTDIR and GANETI_HOSTNAME select a virtual node.
`

export function readOptions(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        bind: { type: 'string', short: 'b', multiple: true },
        port: { type: 'string', short: 'p' },
        'no-voting': { type: 'boolean' },
        'yes-do-it': { type: 'boolean' },
        'no-require-authentication': { type: 'boolean' },
        'access-log': { type: 'string' },
        'require-authentication': { type: 'boolean' },
        simulated: { type: 'boolean' },
        config: { type: 'string' },
        state: { type: 'string' },
        socket: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    })
    const port = values.port === undefined ? undefined : Number(values.port)
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536))
      fail(`--port needs a number from 0 to 65535, not '${values.port}'`)
    const accessLog = ACCESS_LEVELS.find((level) => level === (values['access-log'] ?? 'changes'))
    if (accessLog === undefined)
      fail(`--access-log is one of ${ACCESS_LEVELS.join(', ')}, not '${values['access-log']}'`)
    return { ...values, port, accessLog }
  } catch (error) {
    return fail(`${errorText(error)}\n\n${USAGE}`)
  }
}

export function fail(text: string): never {
  process.stderr.write(`gantryd: ${text.trimEnd()}\n`)
  process.exit(EXIT.failure)
}
