// The environment for child processes: all of this process's, without the test runner's options for Node.
export function inheritedEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== 'NODE_CHANNEL_FD',
  )
  return Object.fromEntries(entries)
}

/** The value of an environment variable; unset and empty are the same. */
export function environmentValue(name: string): string | undefined {
  return process.env[name] === '' ? undefined : process.env[name]
}
