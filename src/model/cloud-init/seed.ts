// The texts from which cloud-init in a guest learns its host name, keys and addresses: the seed of its data source NoCloud.
import { addressList, isSet, keyLines, type OsParameters } from './parameters'
import { networkConfig, type SeedNic } from './network-config'

/** What the texts are made of; `InstanceDict` fits. */
export interface SeedInstance {
  readonly name: string
  readonly uuid: string
  readonly nics: readonly SeedNic[]
}

/** By the names under which cloud-init looks for them, on a disk and over HTTP. */
export interface Seed {
  readonly 'meta-data': string
  readonly 'user-data': string
  readonly 'network-config': string
}

/**
 * Pure. `instance` is as nodes get it: NICs with their parameters filled and their networks beside them. `params` are the effective
 * OS parameters, public, private and secret ones together (`parameters.ts` names them, `cloudInitProblems` has checked them); others are left
 * alone. The texts are JSON, which is YAML. They are the same for the same input, so that a restart changes nothing.
 */
export function noCloudSeed(instance: SeedInstance, params: OsParameters): Seed {
  return {
    'meta-data': text(metaData(instance, params)),
    'user-data': isSet(params['user_data']) ? params['user_data'] : `#cloud-config\n${text(cloudConfig(params))}`,
    'network-config': text(networkConfig(instance.nics, addressList(params['nameservers'] ?? ''))),
  }
}

function metaData({ name, uuid }: SeedInstance, params: OsParameters) {
  const keys = keyLines(params['ssh_authorized_keys'] ?? '')
  return {
    'instance-id': isSet(params['instance_id']) ? params['instance_id'] : uuid,
    'local-hostname': isSet(params['hostname']) ? params['hostname'] : name,
    // Here and not in the user data, so that they count beside somebody's own.
    ...(keys.length > 0 ? { 'public-keys': keys } : {}),
  }
}

function cloudConfig({ user, password_hash: hash }: OsParameters) {
  return {
    ...(isSet(user) ? { user: { name: user } } : {}),
    // For the user of the image, or the one above.
    ...(isSet(hash) ? { password: hash, chpasswd: { expire: false } } : {}),
  }
}

const text = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`
