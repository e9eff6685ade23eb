// An adoption tells which scripts outlive Ganeti's package, and what to do about them.
import { scriptsThatStay } from '../../../../src/bootstrap/adoption/conffiles'
import { readFacts } from '../../../../src/bootstrap/adoption/probe'
import { configOfNodes } from '../../config/builders'

const BRIDGE = 'script./etc/ganeti/kvm-vif-bridge'
const IFUP = 'script./etc/ganeti/kvm-ifup-os'
const GUARD = 'script./etc/molly-guard/run.d/15-ganeti'

function said(output: string, instance_communication_network = '') {
  const bare = configOfNodes(1)
  return scriptsThatStay(readFacts(output).scripts, {
    ...bare,
    cluster: { ...bare.cluster, instance_communication_network },
  })
}

test("an administrator's script for NICs stays in use, and must not need what goes", () => {
  expect(said(`${BRIDGE}=own\n`)).toEqual({ problems: [], notes: ['/etc/ganeti/kvm-vif-bridge stays in use'] })
  expect(said(`${BRIDGE}=own /usr/lib/ganeti/net-common\n`)).toEqual({
    problems: [
      '/etc/ganeti/kvm-vif-bridge uses /usr/lib/ganeti/net-common, which the package ganeti takes away with it: ' +
        'copy that to a place of your own, and let the script use the copy',
    ],
    notes: [],
  })
})

test('a changed script for communication NICs is a problem only where there are such NICs', () => {
  const changed = `${IFUP}=own /usr/lib/ganeti/net-common\n`
  const text =
    /^\/etc\/ganeti\/kvm-ifup-os uses .*net-common, .*let the script use the copy, or remove the script, and Gantry/
  expect(said(changed, 'comm')).toEqual({ problems: [expect.stringMatching(text)], notes: [] })
  expect(said(changed)).toEqual({ problems: [], notes: [expect.stringMatching(text)] })
  expect(said(`${IFUP}=own\n`, 'comm').notes).toEqual(['/etc/ganeti/kvm-ifup-os stays in use'])
})

test('what is put aside is only told if something becomes different by it', () => {
  const unchanged = `${IFUP}=packaged /usr/lib/ganeti/net-common\n${GUARD}=packaged\n`
  expect(said(unchanged)).toEqual({ problems: [], notes: [] })
  expect(said(unchanged, 'comm').notes).toEqual([
    '/etc/ganeti/kvm-ifup-os is put aside, since it needs Ganeti: Gantry sets communication NICs up itself, without a DHCP server',
  ])
  expect(said(`${GUARD}=own\n`)).toEqual({
    problems: [],
    notes: [expect.stringMatching(/15-ganeti is not Debian's any more, so it stays: .*, or remove it$/)],
  })
})
