/** Reads how many seconds the caller waits before the answer is left to a job. Null means the longest allowed wait (RFC 7240). */
export function readPrefer(header: string | undefined): number | null {
  const wishes = (header ?? '').split(/[,;]/).map((wish) => wish.trim().toLowerCase())
  const wait = wishes.flatMap((wish) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(wish)?.[1] ?? [])[0]
  if (wait !== undefined) return Number(wait)
  return wishes.includes('respond-async') ? 0 : null
}
