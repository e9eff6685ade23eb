// The process of mirrored disks is told its node, and starts for no other words.
import { startMirrors } from '../../../src/start/mirrors'

test.each([[[]], [['/srv/node1']], [['', '']], [['--debug', 'node1', 'more']]])('%j names no node', async (args) => {
  await expect(startMirrors(args)).rejects.toThrow('mirrors needs the ROOT and the HOSTNAME of its node')
})
