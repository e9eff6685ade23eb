// How the arguments of node calls are checked and translated, the same at both ends: handlers and callers see plain text and
// paths of their own machine, the wire carries Ganeti's encodings.
import * as zlib from 'node:zlib'
import type { Paths } from '../../lib/paths'
import { COMPRESS_FROM_BYTES, UPLOAD_BYTES_MAX } from '../../model/limits/node-calls'
import type { ConsoleRequest, DiskDict, InstanceDict, UploadedFile } from './dicts'

export interface Codec<T> {
  /** Checks what arrived and translates it; throws a text that says what was expected. */
  decode(value: unknown, paths: Paths): T
  encode(value: T, paths: Paths): unknown
  /** The same as JSON, where that is worth its own words. */
  write?(value: T): string
}

export interface Arg<T> {
  readonly name: string
  readonly codec: Codec<T>
}

export const arg = <T>(name: string, codec: Codec<T>): Arg<T> => ({ name, codec })

export const text = checked((v) => typeof v === 'string', 'a string')<string>()
export const num = checked((v) => typeof v === 'number' && Number.isFinite(v), 'a number')<number>()
export const int = checked((v) => Number.isSafeInteger(v), 'a whole number')<number>()
export const bool = checked((v) => typeof v === 'boolean', 'true or false')<boolean>()
/** Any JSON; the type is what callers promise, and the handler looks at what it uses. */
export const json = <T>(): Codec<T> => checked(() => true, 'JSON')<T>()
export const dict = <T>(): Codec<T> => checked(isRecord, 'an object')<T>()
export const record = dict<Readonly<Record<string, unknown>>>()
/** Ganeti's debug levels arrive as a number, or as true and false. */
export const level: Codec<number> = {
  decode(value) {
    const number = Number(value)
    if (!['number', 'boolean'].includes(typeof value) || !Number.isSafeInteger(number))
      throw new Error('expected a whole number')
    return number
  },
  encode: (value) => value,
}

export const nullable = <T>(inner: Codec<T>): Codec<T | null> => ({
  decode: (value, paths) => (value === null ? null : inner.decode(value, paths)),
  encode: (value, paths) => (value === null ? null : inner.encode(value, paths)),
})

export const list = <T>(inner: Codec<T>): Codec<readonly T[]> => ({
  decode(value, paths) {
    if (!Array.isArray(value)) throw new Error('expected a list')
    return value.map((item: unknown) => inner.decode(item, paths))
  },
  encode: (value, paths) => value.map((item) => inner.encode(item, paths)),
})

export const triple = <A, B, C>(first: Codec<A>, second: Codec<B>, third: Codec<C>): Codec<readonly [A, B, C]> => ({
  decode(value, paths) {
    if (!Array.isArray(value) || value.length !== 3) throw new Error('expected a list of three')
    return [first.decode(value[0], paths), second.decode(value[1], paths), third.decode(value[2], paths)]
  },
  encode: ([a, b, c], paths) => [first.encode(a, paths), second.encode(b, paths), third.encode(c, paths)],
})

export const pair = <A, B>(first: Codec<A>, second: Codec<B>): Codec<readonly [A, B]> => ({
  decode(value, paths) {
    if (!Array.isArray(value) || value.length !== 2) throw new Error('expected a list of two')
    return [first.decode(value[0], paths), second.decode(value[1], paths)]
  },
  encode: ([a, b], paths) => [first.encode(a, paths), second.encode(b, paths)],
})

/** An object of any keys, whose values are all of one kind. */
export const map = <T>(inner: Codec<T>): Codec<Readonly<Record<string, T>>> => {
  const each = <A, B>(values: Readonly<Record<string, A>>, change: (item: A) => B): Record<string, B> =>
    Object.fromEntries(Object.entries(values).map(([key, item]) => [key, change(item)]))
  return {
    decode: (value, paths) => each(record.decode(value, paths), (item) => inner.decode(item, paths)),
    encode: (value, paths) => each(value, (item) => inner.encode(item, paths)),
  }
}

/** An object that has these fields. */
export const shaped = <T>(what: string, types: Readonly<Record<string, FieldType>>): Codec<T> => ({
  decode(value) {
    if (!isRecord(value)) throw new Error(`expected ${what}`)
    for (const [field, type] of Object.entries(types)) expectField(value, field, type, what)
    return value as T
  },
  encode: (value) => value,
})

/** By instance. Most of them are told with the same node, group and parameters as the one before: these are written once. */
export const consoleRequests: Codec<Readonly<Record<string, ConsoleRequest>>> = {
  ...map(shaped<ConsoleRequest>('a request for a console', { instance: 'object' })),
  write(requests) {
    const [node, group, hvParams, beParams] = [rewriter(), rewriter(), rewriter(), rewriter()]
    const texts = Object.entries(requests).map(
      ([name, request]) =>
        `${JSON.stringify(name)}:{"instance":${JSON.stringify(request.instance)},"node":${node(request.node)},` +
        `"group":${group(request.group)},"hvParams":${hvParams(request.hvParams)},"beParams":${beParams(request.beParams)}}`,
    )
    return `{${texts.join(',')}}`
  },
}

/** Writes an object in JSON; one that it is given again is not written again. */
function rewriter(): (value: object) => string {
  let last: object | undefined
  let text = ''
  return (value) => {
    if (value !== last) [last, text] = [value, JSON.stringify(value)]
    return text
  }
}

/** A text, or the lines of one. */
export const textOrLines: Codec<string | readonly string[]> = {
  decode: (value, paths) => (typeof value === 'string' ? value : list(text).decode(value, paths)),
  encode: (value) => value,
}

/** A file or directory, on this machine here and in Ganeti's layout (marked in a virtual cluster) on the wire. */
export const path: Codec<string> = {
  decode(value, paths) {
    const wire = text.decode(value, paths)
    if (wire.includes('\0')) throw new Error('expected a path without NUL')
    if (!wire.startsWith('/')) throw new Error(`expected an absolute path, got ${JSON.stringify(wire)}`)
    if (wire.split('/').includes('..')) throw new Error(`expected a path without "..", got ${JSON.stringify(wire)}`)
    return paths.fromWire(wire)
  },
  encode: (value, paths) => paths.toWire(value),
}

/** `[0, text]`, or `[1, base64 of zlib data]` for longer ones. */
export const compressed: Codec<string> = {
  decode(value) {
    if (!Array.isArray(value) || value.length !== 2 || typeof value[1] !== 'string')
      throw new Error('expected [0, text] or [1, base64 of zlib data]')
    if (value[0] === 0) return value[1]
    if (value[0] !== 1) throw new Error('expected compression method 0 or 1')
    return zlib.inflateSync(Buffer.from(value[1], 'base64'), { maxOutputLength: UPLOAD_BYTES_MAX }).toString('utf8')
  },
  encode(value) {
    if (value.length < COMPRESS_FROM_BYTES) return [0, value]
    return [1, zlib.deflateSync(value, { level: 3 }).toString('base64')]
  },
}

/** upload_file's only argument: a list of seven. */
export const uploadedFile: Codec<UploadedFile> = {
  decode(value, paths) {
    if (!Array.isArray(value) || value.length !== 7)
      throw new Error('expected [path, content, mode, owner, group, atime, mtime]')
    return {
      path: path.decode(value[0], paths),
      content: compressed.decode(value[1], paths),
      mode: nullable(int).decode(value[2], paths),
      owner: nullable(text).decode(value[3], paths),
      group: nullable(text).decode(value[4], paths),
      atime: nullable(num).decode(value[5], paths),
      mtime: nullable(num).decode(value[6], paths),
    }
  },
  encode: (file, paths) => [
    path.encode(file.path, paths),
    compressed.encode(file.content, paths),
    file.mode,
    file.owner,
    file.group,
    file.atime,
    file.mtime,
  ],
}

export const disk: Codec<DiskDict> = {
  decode(value, paths) {
    if (!isRecord(value)) throw new Error('expected a disk object')
    expectField(value, 'dev_type', 'string', 'disk')
    expectField(value, 'size', 'number', 'disk')
    if (!isUnset(value['logical_id']) && !Array.isArray(value['logical_id']))
      throw new Error('expected a list in logical_id of the disk')
    const children = disks.decode(value['children'] ?? [], paths)
    return { ...withoutNulls(value), children } as unknown as DiskDict
  },
  encode: (value) => value,
}

export const disks = list(disk)

/** False stands for a disk that could not be had. */
export const diskOrFalse: Codec<DiskDict | false> = {
  decode: (value, paths) => (value === false ? false : disk.decode(value, paths)),
  encode: (value) => value,
}

export const instance: Codec<InstanceDict> = {
  decode(value, paths) {
    if (!isRecord(value)) throw new Error('expected an instance object')
    for (const field of ['name', 'uuid', 'hypervisor', 'os']) expectField(value, field, 'string', 'instance')
    for (const field of ['hvparams', 'beparams']) expectField(value, field, 'object', 'instance')
    if (!INSTANCE_NAME.test(String(value['name'])))
      throw new Error(`expected an instance name, got ${JSON.stringify(value['name'])}`)
    if (!Array.isArray(value['nics'])) throw new Error('expected a list in nics of the instance')
    const nics = value['nics'].map((nic: unknown) => nicWithParams(nic))
    const disks_info = disks.decode(value['disks_info'] ?? [], paths)
    const unset = { secondary_nodes: [], osparams: {}, osparams_private: {}, disks: [] }
    return { ...unset, ...withoutNulls(value), nics, disks_info } as unknown as InstanceDict
  },
  encode: (value) => value,
}

/** Names become parts of paths on the node. */
const INSTANCE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/

export const instanceName: Codec<string> = {
  decode(value, paths) {
    const name = text.decode(value, paths)
    if (!INSTANCE_NAME.test(name)) throw new Error(`expected an instance name, got ${JSON.stringify(name)}`)
    return name
  },
  encode: (value) => value,
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function nicWithParams(nic: unknown): Record<string, unknown> {
  if (!isRecord(nic)) throw new Error('expected an object in nics of the instance')
  return { nicparams: {}, ...withoutNulls(nic) }
}

const withoutNulls = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))

type FieldType = 'string' | 'number' | 'object'

const isUnset = (value: unknown): boolean => value === undefined || value === null

function expectField(value: Record<string, unknown>, field: string, type: FieldType, what: string) {
  const ok = type === 'object' ? isRecord(value[field]) : typeof value[field] === type
  if (!ok) throw new Error(`expected ${type === 'object' ? 'an' : 'a'} ${type} in ${field} of the ${what}`)
}

function checked(test: (value: unknown) => boolean, expected: string) {
  return <T>(): Codec<T> => ({
    decode(value) {
      if (!test(value)) throw new Error(`expected ${expected}`)
      return value as T
    },
    encode: (value) => value,
  })
}
