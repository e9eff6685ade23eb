// Exports on this node: a directory for each, with the dumps of the disks, and a file that describes them.
import { errorText } from '../lib/system-failure'
import { pythonText } from '../lib/text/python-text'
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import type { Files } from '../lib/files'
import { readPlainFile } from '../lib/file/read-bounded'
import { formatIni, parseIni, type IniSections } from '../lib/file/ini'
import { CLUSTER_ONLY_HVPARAMS } from '../model/constants/hypervisors'
import { EXPORT_CONF_FILE, EXPORT_SECTION } from '../model/constants/exports'
import { EXPORT_VERSION } from '../model/constants/versions'
import { PATH } from '../model/constants/paths'
import { EXPORT_INFO_BYTES_MAX } from '../model/limits/node'
import type { DiskDict, InstanceDict } from '../rpc/node/dicts'
import { fail } from './failure'
import type { NodeContext } from './context'
import { commonTemplate } from '../model/templates'

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/

export async function listExports({ paths, files }: NodeContext): Promise<string[]> {
  try {
    return (await files.readdir(paths.local(PATH.EXPORT_DIR))).sort()
  } catch (error) {
    if (isMissing(error)) fail('No exports directory')
    throw error
  }
}

/** The description of the export in a directory, if it is valid. */
export async function exportInfo({ paths, files }: NodeContext, directory: string): Promise<string> {
  const exports = paths.local(PATH.EXPORT_DIR)
  if (!`${path.normalize(directory)}/`.startsWith(`${exports}/`))
    fail(`Directory '${paths.virtual(directory)}' is not under exports directory '${PATH.EXPORT_DIR}'`)
  const sections = await readInfo(files, path.join(directory, EXPORT_CONF_FILE))
  if (sections === undefined)
    return fail(
      `'${paths.virtual(path.join(directory, EXPORT_CONF_FILE))}' is not there; gnt-backup list shows what is`,
    )
  if (sections[EXPORT_SECTION.export] === undefined || sections[EXPORT_SECTION.instance] === undefined)
    fail("Export info file doesn't have the required fields")
  return formatIni(sections)
}

async function readInfo(files: Files, file: string): Promise<IniSections | undefined> {
  try {
    return parseIni(await readPlainFile(files, file, EXPORT_INFO_BYTES_MAX))
  } catch (error) {
    if (isMissing(error)) return undefined
    return fail(`Export info file cannot be read: ${errorText(error)}`)
  }
}

export async function removeExport({ paths, files }: NodeContext, name: string): Promise<void> {
  if (!NAME.test(name)) fail(`Invalid name of an export: '${name}'`)
  await files.rm(path.join(paths.local(PATH.EXPORT_DIR), name), { recursive: true }).catch((error: unknown) => {
    fail(`Error while removing the export: ${errorText(error)}`)
  })
}

/** Writes the new export's description, and replaces an older export. */
export async function finalizeExport(
  { paths, files, disk, clock }: NodeContext,
  instance: InstanceDict,
  disks: readonly (DiskDict | false)[],
): Promise<void> {
  const directory = path.join(paths.local(PATH.EXPORT_DIR), instance.name)
  const fresh = `${directory}.new`
  const text = formatIni(sectionsOf(instance, disks, Math.floor(clock.now_ms() / 1000)))
  await disk.makeDirectory(fresh)
  await disk.write(path.join(fresh, EXPORT_CONF_FILE), text, { mode: 0o600 })
  // The older one stays until the new one can replace it, and a crash in between loses neither. No instance has this
  // name.
  const old = path.join(path.dirname(directory), `.${instance.name}.old`)
  await files.rm(old, { recursive: true, force: true })
  await files.rename(directory, old).catch((error: unknown) => {
    if (!isMissing(error)) throw error
  })
  await files.rename(fresh, directory).catch(async (error: unknown) => {
    await files.rename(old, directory).catch(() => undefined)
    throw error
  })
  await files.rm(old, { recursive: true, force: true })
}

function sectionsOf(instance: InstanceDict, disks: readonly (DiskDict | false)[], now_s: number): IniSections {
  const hvparams = Object.entries(instance.hvparams).filter(([name]) => !CLUSTER_ONLY_HVPARAMS.includes(name))
  return {
    [EXPORT_SECTION.export]: texts({
      version: EXPORT_VERSION,
      timestamp: now_s,
      source: instance.primary_node,
      os: instance.os,
      compression: 'none',
    }),
    [EXPORT_SECTION.instance]: texts({
      name: instance.name,
      maxmem: instance.beparams.maxmem,
      minmem: instance.beparams.minmem,
      memory: instance.beparams.maxmem,
      vcpus: instance.beparams.vcpus,
      disk_template: commonTemplate(disks.flatMap((disk) => (disk === false ? [] : [disk.dev_type]))),
      hypervisor: instance.hypervisor,
      tags: (instance.tags ?? []).join(' '),
      ...nicValues(instance),
      ...diskValues(disks),
    }),
    [EXPORT_SECTION.hypervisor]: texts(Object.fromEntries(hvparams)),
    [EXPORT_SECTION.backend]: texts({ ...instance.beparams }),
    [EXPORT_SECTION.os]: texts(instance.osparams),
    [EXPORT_SECTION.osPrivate]: texts(instance.osparams_private ?? {}),
  }
}

function nicValues({ nics }: InstanceDict): Record<string, unknown> {
  const values = nics.flatMap((nic, index) => {
    const { mode, link, vlan } = nic.nicparams
    const own = { mac: nic.mac, ip: nic.ip, network: nic.network, name: nic.name, mode, link, vlan }
    return Object.entries(own).map(([name, value]) => [`nic${index}_${name}`, value] as const)
  })
  return { ...Object.fromEntries(values), nic_count: nics.length }
}

function diskValues(disks: readonly (DiskDict | false)[]): Record<string, unknown> {
  const values = disks.flatMap((disk, index) => {
    if (disk === false) return []
    const params = Object.entries(disk.params ?? {}).map(([name, value]) => [`param_${name}`, value] as const)
    const own = {
      ivname: disk.iv_name,
      dump: disk.uuid,
      size: disk.size,
      name: disk.name,
      ...Object.fromEntries(params),
    }
    return Object.entries(own).map(([name, value]) => [`disk${index}_${name}`, value] as const)
  })
  return { ...Object.fromEntries(values), disk_count: disks.filter((disk) => disk !== false).length }
}

/** In Python's form. */
function texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, pythonText(value)]))
}
