// gnt-cluster upgrade: Ganeti's switches between versions that are installed side by side. Of Gantry one version is installed, and it
// brings the configuration up to date whenever it reads one, so there is nothing to switch and nothing to resume.
import { CONFIG_VERSION, RELEASE_VERSION } from '../../model/constants/versions'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'

export async function upgradeCluster({ options, terminal, master }: Call): Promise<number> {
  const to = options.text('to')
  const resume = options.flag('resume')
  if (resume === (to !== undefined))
    throw new CommandFailure('Precisely one of the options --to and --resume has to be given')
  // Also proves that the cluster runs with this version.
  const { config_version } = await master.queryClusterInfo()
  if (resume) {
    terminal.out('Nothing to do: no upgrade was interrupted, and none can be, since one version is installed')
    return EXIT.ok
  }
  const [, major, minor] = /^(\d+)\.(\d+)(\.\d+)?$/.exec(to ?? '') ?? []
  if (major === undefined || minor === undefined) throw new CommandFailure(`Could not parse version string ${to}`)
  const version = Number(major) * 1_000_000 + Number(minor) * 10_000
  if (version !== CONFIG_VERSION)
    throw new CommandFailure(
      `Version ${to} cannot be switched to: this is Gantry ${RELEASE_VERSION}, which keeps the configuration of Ganeti 3.1. ` +
        'To leave it, stop the daemons, run gantryd fold, which leaves plain files, and start those of the other version',
    )
  terminal.out(
    `Nothing to do: the cluster already runs with version ${to}, and its configuration is of version ${String(config_version)}`,
  )
  return EXIT.ok
}
