// Instance communication: an extra NIC over which an instance asks its own node about itself.

export const COMMUNICATION = {
  network: '169.254.0.0/16',
  network6: 'fe80::/10',
  macPrefix: '52:54:00',
  mode: 'routed',
  link: 'communication_rt',
  /** A NIC's name is this prefix and the name of its instance. */
  nicPrefix: 'ganeti:communication:',
  /** A tap device's name is this prefix and a number. */
  tapPrefix: 'gnt.com.',
} as const

/** The address under which every node answers its own instances. */
export const METADATA_ADDRESS = '169.254.169.254'

/** QEMU itself needs two addresses of the network for user-mode networking. */
export const USER_MODE_HOST = '169.254.169.253'
export const USER_MODE_DNS = '169.254.169.252'

/** Addresses that no instance may get. */
export const NODE_ADDRESSES = [USER_MODE_DNS, USER_MODE_HOST, METADATA_ADDRESS] as const

/** Whether it is in the default network. */
export const isCommunicationAddress = (ip: string): boolean => ip.startsWith('169.254.')

export const communicationNic = (instanceName: string): string => `${COMMUNICATION.nicPrefix}${instanceName}`

/** Works for NICs of the configuration, of node calls, and of opcodes. */
export const isCommunicationNic = ({ name }: { readonly name?: string | undefined }): boolean =>
  name?.startsWith(COMMUNICATION.nicPrefix) === true
