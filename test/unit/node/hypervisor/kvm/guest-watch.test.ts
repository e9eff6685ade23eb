// kvmd hears guests as soon as they are there, not only when it looks for them.
import * as net from 'node:net'
import { type Clock, systemClock } from '../../../../../src/lib/clock'
import { systemFiles as files } from '../../../../../src/lib/files'
import { GuestWatch } from '../../../../../src/node/hypervisor/kvm/guest-watch'
import { GUESTS_LOOK_S } from '../../../../../src/model/limits/hypervisor'
import { eventually } from '../../../../support/hypervisor'
import { type TestNode, testNode } from '../../../../support/node-context'

/** How often it has looked because of news. The look from time to time never comes. */
let probes = 0
const clock: Clock = {
  ...systemClock,
  after(delay_ms, action, options) {
    if (delay_ms >= GUESTS_LOOK_S * 1000) return { cancel: () => undefined }
    const look = () => {
      action()
      probes++
    }
    return systemClock.after(delay_ms, look, options)
  },
}
const CONTROL = '/var/run/ganeti/kvm-hypervisor/ctrl/vm1.kvmd'
const RUNTIME = '/var/run/ganeti/kvm-hypervisor/conf/vm1.runtime'

let node: TestNode
let watch: GuestWatch
const monitors: net.Server[] = []
let calls = 0
beforeEach(async () => {
  node = testNode('node1.example.com', { clock, files })
  ;[calls, probes] = [0, 0]
  watch = new GuestWatch(node.context)
  await watch.start()
})
afterEach(async () => {
  watch.close()
  for (const monitor of monitors.splice(0)) await new Promise((resolve) => monitor.close(resolve))
  node.remove()
})

/** QEMU's monitor, which says nothing. */
function openMonitor(): Promise<void> {
  const monitor = net.createServer((socket) => {
    calls++
    socket.on('error', () => undefined).destroy()
  })
  monitors.push(monitor)
  return new Promise((resolve) => monitor.listen(node.paths.local(CONTROL), resolve))
}

test('a guest that is started here has its file first', async () => {
  node.put(RUNTIME, '[]')
  await openMonitor()
  await eventually(() => calls > 0 || undefined)
})

test('a guest that is migrated to this node has its monitor first', async () => {
  await openMonitor()
  await eventually(() => probes > 0 || undefined)
  expect(calls).toBe(0)
  node.put(RUNTIME, '[]')
  await eventually(() => calls > 0 || undefined)
})
