// Constants of hooks.
export const HOOK_RESULT = { skipped: 0, failed: 1, ok: 2 } as const
export const HOOK_NAME = /^[a-zA-Z0-9_-]+$/
