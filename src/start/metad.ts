// Starts metad with all that it needs.
import * as os from 'node:os'
import * as path from 'node:path'
import { startMetad } from '../daemons/metad/server'
import type { NodeFiles } from '../daemons/metad/context'
import { systemClock as clock } from '../lib/clock'
import { type Files } from '../lib/files'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { METADATA_ADDRESS } from '../model/constants/communication'
import { ownedDisk as disk } from '../model/owners'
import { isVirtualNode } from '../node/network/addresses'
import { isRoutedToGuest } from '../node/network/communication'
import { findOs } from '../node/os-definition'
import { BUNDLED_OS, osFolders } from '../node/os-folders'
import { isOsPackage } from '../node/os-package'
import type { Start } from './start'

export const start: Start = async ({ paths, log, options }) => {
  const { files } = thisMachine
  // Guests of a virtual node have user-mode networking, and their own sockets.
  const late = options.bind === undefined && !isVirtualNode(paths) ? { lateAddress: METADATA_ADDRESS } : {}
  return startMetad({
    ...{ paths, log, clock, random, files, disk, accessLog: options.accessLog },
    ...{ addresses: options.bind ?? [], port: options.port, ...late },
    node: nodeFiles(files, paths),
    isOwn: (address) => isRoutedToGuest(files, address, os.endianness()),
  })
}

const nodeFiles = (files: Files, paths: Paths): NodeFiles => ({
  async script(name, script) {
    const definition = await findOs({ files, paths, ...osFolders(paths, BUNDLED_OS) }, name).catch(() => undefined)
    return definition && path.join(definition.directory, script)
  },
  installPackage: (file) => Promise.resolve(isOsPackage(file) ? file : undefined),
})
