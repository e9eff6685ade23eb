// Disk templates can do what Ganeti's constants DTS_* say.
import {
  ALLOCATION_TEMPLATES,
  countedTemplate,
  DISK_TEMPLATES,
  type DiskTemplate,
  factsOf,
  hidesWrites,
  isInFileSystem,
  isMirrored,
  isOnLvm,
  takesCounted,
} from '../../../src/model/templates'

const having = (is: (template: DiskTemplate) => boolean): string => DISK_TEMPLATES.filter(is).join(' ')

test.each([
  ['COPYABLE', (one) => factsOf(one).copyable === true, 'file plain'],
  ['EXCL_STORAGE', (one) => factsOf(one).exclusive === true, 'plain'],
  ['EXT_MIRROR', (one) => factsOf(one).mirror === 'outside', 'blockdev diskless ext gluster rbd sharedfile'],
  ['FILEBASED', (one) => factsOf(one).directory !== undefined, 'file gluster sharedfile'],
  ['GROWABLE', (one) => factsOf(one).growable === true, 'drbd ext file gluster plain rbd sharedfile'],
  ['HAVE_ACCESS', (one) => factsOf(one).access === true, 'ext gluster rbd'],
  ['INSTANCE_DEPENDENT_PATH', (one) => factsOf(one).namedAfterInstance === true, 'file sharedfile'],
  ['INT_MIRROR', (one) => factsOf(one).mirror === 'inside', 'drbd'],
  ['LVM', isOnLvm, 'drbd plain'],
  ['MIRRORED', isMirrored, 'blockdev diskless drbd ext gluster rbd sharedfile'],
  ['MUST_ADOPT', (one) => factsOf(one).adoptedOnly === true, 'blockdev'],
  ['NOT_CONVERTIBLE_FROM', (one) => factsOf(one).notConvertible === 'either', 'diskless'],
  ['NOT_CONVERTIBLE_TO', (one) => factsOf(one).notConvertible !== undefined, 'blockdev diskless'],
] satisfies readonly (readonly [string, (template: DiskTemplate) => boolean, string])[])(
  'DTS_%s',
  (_, is, expected) => {
    expect(having(is)).toBe(expected)
  },
)

test('where only one storage can be counted, that of mirrors comes first, then that of volumes', () => {
  const enabled: DiskTemplate[] = ['sharedfile', 'file', 'plain', 'drbd']
  const counted = (...templates: string[]) => countedTemplate({ enabled_disk_templates: enabled }, templates)
  expect([counted('file', 'drbd', 'plain'), counted('file', 'plain'), counted('file')]).toEqual([
    'drbd',
    'plain',
    'file',
  ])
  // Instances that take no room on nodes are placed beside others.
  expect([counted('sharedfile'), counted()]).toEqual(['drbd', 'drbd'])
  expect(countedTemplate({ enabled_disk_templates: ['rbd', 'diskless'] }, ['diskless'])).toBe('rbd')
})

test.each([
  ['drbd', 'plain drbd'],
  ['plain', 'plain drbd'],
  ['file', 'file'],
  ['sharedfile', ''],
] as const)('disks take from the counted storage of %s if theirs is the same: %s', (counted, takers) => {
  expect(ALLOCATION_TEMPLATES.filter((one) => takesCounted(one, counted)).join(' ')).toBe(takers)
})

test('a disk that several nodes reach is not cached on one of them, unless its cache is shared', () => {
  const hiding = (access: string) => DISK_TEMPLATES.filter((one) => one !== 'diskless' && hidesWrites(one, access))
  expect(hiding('userspace')).toEqual(['blockdev', 'ext', 'gluster', 'sharedfile'])
  expect(hiding('kernelspace')).toEqual(['blockdev', 'ext', 'gluster', 'rbd', 'sharedfile'])
})

test("only the files of two templates are below directories that a node's administrator lists", () => {
  expect(DISK_TEMPLATES.filter(isInFileSystem)).toEqual(['file', 'sharedfile'])
})
