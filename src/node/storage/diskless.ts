// Instances without disks. There is nothing to do, so any call is the caller's mistake.
import { NodeFailure } from '../failure'
import type { Driver, DriverFactory } from './storage'

export const disklessDriver: DriverFactory = (): Driver => {
  const refuse = () => Promise.reject(new NodeFailure('Instances of the diskless template have no disks'))
  return {
    hasDisks: false,
    find: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(),
    create: refuse,
    dimensions: refuse,
    assemble: refuse,
    open: refuse,
    close: refuse,
    grow: refuse,
    rename: refuse,
    setInfo: refuse,
    snapshot: refuse,
  }
}
