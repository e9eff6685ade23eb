// The place of a node decides which daemons it has.
import { isFor, roleToEnsure } from '../../../../src/daemons/supervisor/place'
import { pathsOf } from '../../../../src/lib/paths'
import type { Role } from '../../../../src/roles/role'
import { ROLES, roleNamed } from '../../../../src/roles/table'

const NAME = 'node1.example.com'
const paths = pathsOf('', NAME)

/** A node with these ssconf files. */
function nodeWith(texts: Readonly<Record<string, string>>) {
  const readFileSync = (file: string) => {
    const [, list = ''] = /ssconf_(\w+)$/.exec(file) ?? []
    const text = texts[list]
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    return text
  }
  return { paths, files: { readFileSync } as never }
}

function roleOf(name: string): Role {
  const role = roleNamed(name)
  if (role === undefined) throw new Error(`there is no role ${name}`)
  return role
}

test('confd is for master candidates, and kvmd for nodes with guests of kvm that may shut themselves down', () => {
  const files = {
    ...{ master_candidates: `node2.example.com\n${NAME}\n`, hypervisor_list: 'fake\nkvm\n' },
    ...{ enabled_user_shutdown: 'True\n', node_vm_capable: `node2.example.com=True\n${NAME}=True\n` },
  }
  const [confd, kvmd] = [roleOf('confd'), roleOf('kvmd')]
  expect([isFor(confd, nodeWith(files)), isFor(kvmd, nodeWith(files))]).toEqual([true, true])
  expect(isFor(confd, nodeWith({ master_candidates: 'node2.example.com\n' }))).toBe(false)
  expect(isFor(confd, nodeWith({}))).toBe(false)
  for (const other of [
    { hypervisor_list: 'fake\n' },
    { enabled_user_shutdown: 'False\n' },
    { node_vm_capable: `node2.example.com=True\n${NAME}=False\n` },
  ])
    expect(isFor(kvmd, nodeWith({ ...files, ...other }))).toBe(false)
})

test('a name that is no daemon of anybody is neither started nor stopped', () => {
  expect(roleToEnsure(ROLES, 'ganeti-kvmd', true)?.name).toBe('kvmd')
  expect(roleToEnsure(ROLES, 'ganeti-masterd', false)).toBeUndefined()
  expect(() => roleToEnsure(ROLES, 'ganeti-masterd', true)).toThrow('there is no ganeti-masterd to start')
  expect(() => roleToEnsure(ROLES, 'ganeti-kvdm', false)).toThrow('there is no ganeti-kvdm that could be stopped')
  expect(() => roleToEnsure(ROLES, 'ganeti-node', false)).toThrow('there is no ganeti-node that could be stopped')
})
