// Turns short names that people type into full names: `instance/web1` becomes `instance/web1.example.com`. Jobs keep the
// names as they were typed.
import { findInstance, findNode } from '../config/lookup'
import type { ConfigData } from '../model/config'

/** Returns the object with its full name if only one object fits. Only some kinds have short names. */
export function fullObject(config: ConfigData, object: string): string {
  const slash = object.indexOf('/')
  const [kind, name] = [object.slice(0, slash), object.slice(slash + 1)]
  if (kind !== 'instance' && kind !== 'node') return object
  const found = kind === 'instance' ? findInstance(config, name) : findNode(config, name)
  return found === undefined ? object : `${kind}/${found.name}`
}
