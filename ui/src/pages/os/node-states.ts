// Each node's report about an operating system: for each folder with a definition, `[path, valid, text, ...]`.
export interface NodeState {
  readonly node: string
  readonly path: string
  readonly valid: boolean
  readonly text: string
}

export function nodeStatesOf(status: unknown): NodeState[] {
  if (typeof status !== 'object' || status === null) return []
  return Object.entries(status as Record<string, unknown>).flatMap(([node, found]) =>
    (Array.isArray(found) ? (found as unknown[]) : []).flatMap((entry) => {
      if (!Array.isArray(entry)) return []
      const [path, valid, text] = entry as unknown[]
      return [{ node, path: String(path), valid: valid === true, text: typeof text === 'string' ? text : '' }]
    }),
  )
}
