// A disk's text in errors, in Ganeti's form.
import { pythonRepr } from '../../../lib/text/python-text'
import { drbdId, shownId } from '../../../config/lookup'
import type { Disk } from '../../../model/config'
import { diskIdOf } from '../../../model/templates'

export function diskText(disk: Disk): string {
  return `<${placeText(disk)}, visible as /dev/${disk.iv_name}, size=${disk.size}m)>`
}

function placeText(disk: Disk): string {
  const { dev_type, logical_id, children } = disk
  if (diskIdOf(dev_type) === 'volume') return `LogicalVolume(/dev/${logical_id.map(String).join('/')}`
  const id = drbdId(disk)
  const [data, meta] = children
  if (id === undefined || data === undefined || meta === undefined)
    return `Disk(type=${dev_type}, logical_id=(${shownId(disk).map(pythonRepr).join(', ')}), children=[${children.map(diskText).join(', ')}]`
  const hosts = `${id.nodeA}/${id.minorA}-${id.nodeB}/${id.minorB}`
  return `DRBD8(hosts=${hosts}, port=${pythonRepr(id.port)}, backend=${diskText(data)}, metadev=${diskText(meta)}`
}
