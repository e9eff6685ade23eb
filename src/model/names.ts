/**
 * Whether a text may be a host name (of an instance, a node, or the cluster). Case and a dot at the end do not matter.
 */
export const isHostname = (name: string): boolean => {
  const labels = normalHostname(name).split('.')
  return name.length <= 255 && !name.startsWith('-') && labels.every((label) => LABEL.test(label))
}

/** DNS has no longer ones. */
const LABEL = /^[a-z0-9_-]{1,63}$/

/** Whether a text may be the name of a machine's network interface. */
export const isInterfaceName = (name: string): boolean =>
  /^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,14}$/.test(name) && name !== '.' && name !== '..'

/** The form of a host name in the configuration. */
export const normalHostname = (name: string): string => name.toLowerCase().replace(/\.$/, '')
