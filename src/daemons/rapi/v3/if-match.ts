// ETags of /3. They name the object, so that one header can refer to several objects.
import type { Precondition } from '../../../rpc/luxi/gantry'
import { badRequest } from '../../../http/errors'

/** `"instance/<uuid>/<serial number>"`. It contains the object, so that If-Match can be checked for requests to any address. */
export const etag = (kind: string, uuid: unknown, serial: unknown): string =>
  `"${kind}/${String(uuid)}/${String(serial)}"`

/** The objects of an If-Match header, with the serial numbers that they must have. */
export function readIfMatch(header: string | undefined): Precondition[] {
  if (header === undefined) return []
  return header.split(',').map((part) => {
    const match = /^\s*"(cluster|instance|node|group|network)\/([0-9a-f-]{36})\/(\d{1,15})"\s*$/.exec(part)
    if (match === null) throw badRequest('If-Match: not an ETag of this API')
    const [, kind, uuid = '', serial] = match
    // The expression allows only the kinds of the type.
    return { kind: kind as Precondition['kind'], uuid, serial_no: Number(serial) }
  })
}
