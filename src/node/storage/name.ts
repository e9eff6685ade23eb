// How messages name a disk. Some ids contain a secret, which is left out.
import type { DiskDict } from '../../rpc/node/dicts'

/** The position of DRBD's secret in the id. */
const SECRET_AT = 5

export function nameOf({ iv_name, uuid, dev_type, logical_id }: DiskDict): string {
  const id = (logical_id ?? []).filter((part, at) => at < SECRET_AT && part !== null)
  return `${iv_name ? `${iv_name} ` : ''}(${dev_type} ${id.length > 0 ? id.join(' ') : uuid})`
}
