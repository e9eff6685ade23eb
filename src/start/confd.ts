// Starts confd with all that it needs.
import { ConfigCopy } from '../daemons/confd/config-copy'
import { startConfd } from '../daemons/confd/server'
import { systemClock as clock } from '../lib/clock'
import { systemFiles } from '../lib/files'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk } from '../model/owners'
import { listenAddress } from './own-address'
import type { Start } from './start'

export const start: Start = async ({ paths, log, options }) => {
  const copy = await ConfigCopy.open({ files: systemFiles, paths, log, clock, random, disk })
  const confd = await startConfd({
    ...{ clock, log, key: () => copy.key(), config: () => copy.current(), gantry: () => copy.gantry() },
    address: options.bind?.[0] ?? (await listenAddress(paths)),
    port: options.port,
  })
  return {
    tell: () => confd.tell(),
    async close() {
      copy.close()
      await confd.close()
    },
    reload: () => void copy.readKey(),
  }
}
