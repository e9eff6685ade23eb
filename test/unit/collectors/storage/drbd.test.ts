// Mirrored disks in user space are told of as those of DRBD are.
import { drbd } from '../../../../src/collectors/storage/drbd'
import { CONFD } from '../../../../src/rpc/confd/protocol'
import { NODE, noStorage, nodeSources } from '../../../support/node-sources'

test('a mirror in user space whose other node is gone is told of, with its instance', async () => {
  const whole = { connection: 'Connected', role: 'Primary', disk: 'UpToDate', peerDisk: 'UpToDate', peerPrimary: false }
  const alone = { connection: 'WFConnection', role: 'Primary', disk: 'UpToDate', peerDisk: 'DUnknown' }
  const mirrors = () =>
    Promise.resolve(
      new Map([
        [0, whole],
        [1, alone],
      ]),
    )
  const answers = { [`${CONFD.nodeDrbd} ${NODE}`]: [[NODE, 1, 'vm', 0, 'primary', 'other']] }
  const sources = nodeSources({ userSpace: { ...noStorage, mirrors }, answers })
  expect(await drbd.open(sources, {}).collect()).toEqual({
    status: { code: 1, message: '\n1: Trying to establish a network connection' },
    versionInfo: { version: 'user space (no DRBD)' },
    deviceInfos: [
      {
        ...{ minor: 0, connectionState: 'Connected', localRole: 'Primary', remoteRole: 'Secondary' },
        ...{ localState: 'UpToDate', remoteState: 'UpToDate', instance: null },
      },
      {
        ...{ minor: 1, connectionState: 'WFConnection', localRole: 'Primary', remoteRole: 'Unknown' },
        ...{ localState: 'UpToDate', remoteState: 'DUnknown', instance: 'vm' },
      },
    ],
  })
})
