// Versions of IP, and numbers that depend on them. The configuration and ssconf store a version as the number of its
// address family.
export type IpVersion = 4 | 6
export type IpFamily = 2 | 10

const FAMILIES = { 4: 2, 6: 10 } as const

export const familyOf = (version: IpVersion): IpFamily => FAMILIES[version]
export const versionOf = (family: number): IpVersion => (family === FAMILIES[6] ? 6 : 4)

/** The prefix length of a single address. */
export const bitsOf = (version: IpVersion): number => (version === 4 ? 32 : 128)

/** The address by which a machine reaches itself. */
export const loopbackOf = (version: IpVersion): string => (version === 4 ? '127.0.0.1' : '::1')

export const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1'
