// The OS parameters from which a guest's cloud-init gets its texts. An OS definition lists those that its users may set.
import { isIP } from 'node:net'
import { CLOUD_INIT_VALUE_BYTES_MAX, NAMESERVERS_MAX, SSH_KEYS_MAX } from '../limits/cloud-init'
import { isHostname } from '../names'

/**
 * The effective values from the cluster, the OS, its variant and the instance; public, private and secret ones
 * together.
 */
export type OsParameters = Readonly<Record<string, string>>

/**
 * Whether the instance gets a seed. An OS definition that lists this parameter asks for one, unless the value is `no`.
 */
export const CLOUD_INIT = 'cloud_init'
/**
 * Identifies the installation for cloud-init, which repeats its one-time steps when it changes. Default: the instance's
 * UUID.
 */
export const INSTANCE_ID = 'instance_id'

const YES: readonly string[] = ['yes', 'true', 'on', '1']
const NO: readonly string[] = ['no', 'false', 'off', '0']

/**
 * Checks of values. Each returns words that follow "must be", or undefined if the value is good. They never repeat the
 * value, which may be secret.
 */
const CHECKS: Readonly<Record<string, (value: string) => string | undefined>> = {
  [CLOUD_INIT]: (value) => unless([...YES, ...NO].includes(value.toLowerCase()), 'yes or no'),
  [INSTANCE_ID]: (value) => unless(/^[\w.:-]{1,64}$/.test(value), 'at most 64 letters, digits and _.:-'),
  hostname: (value) => unless(isHostname(value), 'the name of a host, with or without its domain'),
  user: (value) =>
    unless(/^[a-z_][a-z0-9_-]{0,31}$/.test(value), 'the name of a user: at most 32 of a-z, 0-9, _ and -'),
  password_hash: (value) =>
    unless(
      /^\$[56]\$(?:rounds=\d+\$)?[\w./]{1,16}\$[\w./]{43,86}$/.test(value),
      "a SHA-512 or SHA-256 hash, as 'openssl passwd -6' prints it",
    ),
  ssh_authorized_keys: (value) =>
    unless(
      keyLines(value).every((line) => KEY_LINE.test(line)) && keyLines(value).length <= SSH_KEYS_MAX,
      `at most ${SSH_KEYS_MAX} lines, each a public key as in a file authorized_keys`,
    ),
  nameservers: (value) =>
    unless(
      addressList(value).every((address) => isIP(address) !== 0) && addressList(value).length <= NAMESERVERS_MAX,
      `at most ${NAMESERVERS_MAX} IP addresses, separated by blanks`,
    ),
  user_data: (value) =>
    unless(USER_DATA.test(value), 'a text whose first line says its kind, such as #cloud-config or #!/bin/sh'),
}

const TOO_LONG = `at most ${CLOUD_INIT_VALUE_BYTES_MAX} bytes long`

/** Options may stand before the type of a key, and a comment after it. */
const KEY_LINE = /^(?:\S.*[ ,])?(?:ssh-[a-z0-9]+|ecdsa-sha2-\w+|sk-[\w.@-]+) [A-Za-z0-9+/]{16,}={0,3}(?:\s.*)?$/
/** cloud-init tells kinds of user data apart by these first lines. */
const USER_DATA =
  /^(?:#cloud-config|#!|#include|#cloud-boothook|#part-handler|#upstart-job|## template: ?jinja|MIME-Version:|Content-Type:)/i

/** Describes the mistakes in the values, one sentence for each parameter. */
export function cloudInitProblems(params: OsParameters): string[] {
  const wrong = Object.entries(CHECKS).flatMap(([name, check]) => {
    const value = params[name]
    if (!isSet(value)) return []
    const desired = Buffer.byteLength(value) > CLOUD_INIT_VALUE_BYTES_MAX ? TOO_LONG : check(value)
    return desired === undefined ? [] : [`OS parameter ${name} must be ${desired}`]
  })
  if (!isSet(params['user_data'])) return wrong
  const beside = ['user', 'password_hash'].filter((name) => isSet(params[name]))
  return [
    ...wrong,
    ...beside.map(
      (name) => `OS parameter ${name} has no effect beside user_data: say it there, or leave one of them out`,
    ),
  ]
}

/** `declared`: whether the OS definition lists `cloud_init`. */
export function wantsCloudInit(params: OsParameters, declared: boolean): boolean {
  const value = params[CLOUD_INIT]
  return isSet(value) ? YES.includes(value.toLowerCase()) : declared
}

export const isSet = (value: string | undefined): value is string => value !== undefined && value !== ''

export const keyLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

export const addressList = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '')

const unless = (right: boolean, desired: string): string | undefined => (right ? undefined : desired)
