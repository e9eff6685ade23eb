// The control files of the packages.
import * as fs from 'node:fs'
import type { Tree } from './tree'

/** In the order in which dpkg must install them. `gantry-version` stands for the package with a version in its name. */
export const PACKAGES = ['gantry-htools', 'gantry-version', 'gantry', 'gantry-adopt', 'gantry-doc'] as const
/** The maintainer, in the form that Debian's tools use. */
export const MAINTAINER = `${process.env['DEBFULLNAME'] ?? 'The Gantry authors'} <${process.env['DEBEMAIL'] ?? 'gantry@localhost'}>`

type Name = (typeof PACKAGES)[number]

/** Several versions may be installed on a node, so each version is a package with its own name. */
export function packageName(name: Name, version: string): string {
  if (name !== 'gantry-version') return name
  if (!/^\d[a-z0-9+.-]*$/.test(version))
    throw new Error(
      `the version ${version} cannot be in the name of a package: it has other characters than a-z 0-9 + . -`,
    )
  return `gantry-${version}`
}

type Fields = Readonly<Record<string, string>>

const NODE = 'nodejs (>= 20.19)'
/** Ganeti's programs have the same names. Its versioned packages may stay installed, because nothing starts them. */
const IN_GANETIS_PLACE = 'ganeti, ganeti2'
const IN_ITS_HTOOLS_PLACE = 'ganeti-htools'
/** The version makes this mean the real package. Our own package, which provides `ganeti`, does not match. */
const REAL_GANETI = 'ganeti (<< 1:0~)'

const FIELDS: Readonly<Record<Name, (version: string) => Fields>> = {
  gantry: (version) => ({
    Section: 'admin',
    // The programs that daemons start on every node. Other kinds of disks and networks need the recommended packages.
    Depends: `${NODE}, ${packageName('gantry-version', version)}, gantry-htools, adduser, iproute2, openssh-client, openssl`,
    Recommends: 'qemu-system-x86, qemu-utils, openssh-server, iputils-arping, fdisk, logrotate, socat, systemd',
    Suggests: 'gantry-doc, lvm2, drbd-utils, ceph-common, glusterfs-client, qemu-block-extra, bash-completion',
    Conflicts: IN_GANETIS_PLACE,
    Replaces: IN_GANETIS_PLACE,
    Provides: 'ganeti',
    Description: `cluster virtualization manager with Ganeti's formats and commands
 Gantry runs virtual machines on a group of ordinary servers. It decides where
 each one runs, keeps its disks, moves it to another server while it runs, and
 starts it elsewhere when its server dies.
 .
 This package has the units of systemd, and the places of Ganeti's daemons and
 commands, which lead to one of the versions that are installed. It takes the
 place of Ganeti's packages on the same configuration, and never runs beside
 them.`,
  }),
  'gantry-version': (version) => ({
    Section: 'admin',
    Depends: NODE,
    Description: `cluster virtualization manager, version ${version}
 The daemons of a node and of the master, the commands, the remote API and the
 web console, in a directory of their own. Several versions may be installed;
 "gnt-cluster upgrade" says which one a cluster runs.`,
  }),
  'gantry-htools': () => ({
    Section: 'admin',
    Depends: NODE,
    Conflicts: `${IN_ITS_HTOOLS_PLACE}, ${REAL_GANETI}`,
    Replaces: `${IN_ITS_HTOOLS_PLACE}, ${REAL_GANETI}`,
    Provides: IN_ITS_HTOOLS_PLACE,
    Description: `programs that plan where instances of a cluster go
 hbal, hspace, hail and their neighbours compute balances, capacity and places
 of virtual machines. They read a cluster of Gantry or Ganeti over its remote
 API, or a file, so they also run on machines that are in no cluster.`,
  }),
  'gantry-adopt': () => ({
    Section: 'admin',
    Depends: `${NODE}, openssh-client`,
    Description: `takes over a cluster of Ganeti, and gives it back
 Looks at a running cluster of Ganeti and says what stands in the way of Gantry.
 Then exchanges the packages of its nodes, one after the other, while the guests
 run on, and does the opposite when asked. It is installed on the master, beside
 Ganeti's packages or Gantry's.`,
  }),
  'gantry-doc': () => ({
    Section: 'doc',
    Description: `documents of Gantry
 How to install and run a cluster, what its HTTP API offers (OpenAPI documents
 are included), and the map of its code.`,
  }),
}

export function control(name: Name, { version, size_kib }: { version: string; size_kib: number }): string {
  const { Section = '', Description = '', ...relations } = FIELDS[name](version)
  const fields: Fields = {
    Package: packageName(name, version),
    Version: version,
    Architecture: 'all',
    Maintainer: MAINTAINER,
    'Installed-Size': String(size_kib),
    ...relations,
    Section,
    Priority: 'optional',
    Description,
  }
  return Object.entries(fields)
    .map(([field, value]) => `${field}: ${value}\n`)
    .join('')
}

/** Our licence, and that of each included package of npm. */
export function copyright(license: string, tree: Tree): string {
  const inside = tree.files().filter((file) => /node_modules\/.*\/LICEN[CS]E/i.test(file))
  const others = inside.map((file) => `Files: ${file.slice(0, file.lastIndexOf('/'))}/*\nLicense: see /${file}\n`)
  const text = fs.readFileSync(license, 'utf8').trim().split('\n')
  return [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
    'Upstream-Name: Gantry',
    '',
    'Files: *',
    `Copyright: ${text.find((line) => line.startsWith('Copyright'))?.replace(/^Copyright \(c\) /, '') ?? ''}`,
    'License: BSD-2-Clause',
    ...text.slice(2).map((line) => (line === '' ? ' .' : ` ${line}`)),
    '',
    ...others,
  ].join('\n')
}
