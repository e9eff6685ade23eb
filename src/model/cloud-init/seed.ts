// The seed for cloud-init's data source NoCloud: texts with the guest's host name, keys and addresses.
import { addressList, isSet, keyLines, type OsParameters } from './parameters'
import { networkConfig, type SeedNic } from './network-config'

/** The input of the texts; `InstanceDict` fits. */
export interface SeedInstance {
  readonly name: string
  readonly uuid: string
  readonly nics: readonly SeedNic[]
}

/** Keys are the names that cloud-init looks for, on a disk and over HTTP. */
export interface Seed {
  readonly 'meta-data': string
  readonly 'user-data': string
  readonly 'network-config': string
}

/**
 * Pure: the same input gives the same texts, so that a restart changes nothing. `instance` is as nodes get it: NICs
 * with their parameters filled and their networks beside them. `params` are the effective OS parameters, public,
 * private and secret ones together; `cloudInitProblems` has checked those of `parameters.ts`, and others are ignored.
 * The texts are JSON, which is also YAML.
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
    // Keys are here and not in the user data, so that they also count when a user brings user data.
    ...(keys.length > 0 ? { 'public-keys': keys } : {}),
  }
}

function cloudConfig({ user, password_hash: hash }: OsParameters) {
  return {
    ...(isSet(user) ? { user: { name: user } } : {}),
    // The password of the image's user, or of the user above.
    ...(isSet(hash) ? { password: hash, chpasswd: { expire: false } } : {}),
  }
}

const text = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`
