// Hooks: phases, result states, and the object types of their environment.
export const HOOK_PHASES = ['pre', 'post'] as const
export const HOOK_RESULT = { skipped: 0, failed: 1, ok: 2 } as const
export const HOOK_TYPES = ['CLUSTER', 'GROUP', 'INSTANCE', 'NETWORK', 'NODE'] as const
export type HookType = (typeof HOOK_TYPES)[number]
export const HOOK_NAME = /^[a-zA-Z0-9_-]+$/
export const HOOK_CONFIG_UPDATE = 'config-update'
export const HOOK_WATCHER = 'watcher'
