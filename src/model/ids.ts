// The model layer: types, constants and errors that describe a cluster. It does no IO and knows no daemon; it may
// import lib only. Identifiers are branded: plain strings at run time, but the compiler keeps their kinds apart.

type Brand<Name extends string> = string & { readonly __brand: Name }

export type NodeUuid = Brand<'NodeUuid'>
export type GroupUuid = Brand<'GroupUuid'>
export type InstanceUuid = Brand<'InstanceUuid'>
export type DiskUuid = Brand<'DiskUuid'>
export type NetworkUuid = Brand<'NetworkUuid'>
export type NicUuid = Brand<'NicUuid'>
export type FilterUuid = Brand<'FilterUuid'>

const UUID = /^[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}$/

export const isUuid = (text: string): boolean => UUID.test(text)

// Only these functions turn a string into an identifier.
export const nodeUuid = (text: string): NodeUuid => text as NodeUuid
export const groupUuid = (text: string): GroupUuid => text as GroupUuid
export const instanceUuid = (text: string): InstanceUuid => text as InstanceUuid
export const diskUuid = (text: string): DiskUuid => text as DiskUuid
export const networkUuid = (text: string): NetworkUuid => text as NetworkUuid
export const nicUuid = (text: string): NicUuid => text as NicUuid
export const filterUuid = (text: string): FilterUuid => text as FilterUuid
