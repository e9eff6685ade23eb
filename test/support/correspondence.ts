// Compares a recorded text with ours, character by character. Random values and times may differ, but they must differ consistently: a uuid
// that occurs twice in the recording must be the same uuid twice here.

/** uuids, addresses of network cards, moments, signatures and salts, names of keys, certificates. */
const MOMENT = /\[1[0-9]{9}, [0-9]{1,6}\]|\b1[0-9]{18}\b|\b1[0-9]{9}\.[0-9]+/
const MADE = new RegExp(
  [
    MOMENT,
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/,
    /\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b/,
    /x509-[0-9_-]{19}-\w{8}/,
    /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/,
    /\b(?:[0-9a-f]{40}|[0-9a-f]{16})\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

export class Correspondence {
  private readonly ours = new Map<string, string>()
  private readonly recorded = new Map<string, string>()

  /** Tokens in `known` existed before, so they are the same on both sides. */
  constructor(known: string) {
    for (const [token] of known.matchAll(MADE)) this.join(token, token)
  }

  /** A recorded request, with our objects in place of the recorded ones. New tokens in it are sent to us unchanged. */
  translated(request: string): string {
    return request.replace(MADE, (token) => this.ours.get(token) ?? (this.join(token, token), token))
  }

  /** The first difference, or an empty list. */
  differences(want: string, got: string): string[] {
    const [theirs, mine] = [parts(want), parts(got)]
    let before = ''
    for (let index = 0; index < Math.max(theirs.length, mine.length); index++) {
      const [their, my] = [theirs[index] ?? '', mine[index] ?? '']
      const same = index % 2 === 0 ? their === my : this.same(their, my)
      if (!same) return [apart(before + their, before + my)]
      before = my
    }
    return []
  }

  private same(theirs: string, mine: string): boolean {
    // Two times that differ in the recording may be equal here.
    if (MOMENT.test(theirs) && !this.ours.has(theirs)) return MOMENT.test(mine)
    if (!this.ours.has(theirs) && !this.recorded.has(mine)) this.join(theirs, mine)
    return this.ours.get(theirs) === mine && this.recorded.get(mine) === theirs
  }

  private join(theirs: string, mine: string): void {
    this.ours.set(theirs, mine)
    this.recorded.set(mine, theirs)
  }
}

/** Splits a text: plain parts at even indexes, random values and times at odd ones. */
function parts(text: string): string[] {
  const found: string[] = []
  let end = 0
  for (const match of text.matchAll(MADE)) {
    found.push(text.slice(end, match.index), match[0])
    end = match.index + match[0].length
  }
  return [...found, text.slice(end)]
}

function apart(want: string, got: string): string {
  let at = 0
  while (at < want.length && want[at] === got[at]) at++
  const from = Math.max(0, at - 60)
  return `...${got.slice(from, at + 120)}... where recorded was ...${want.slice(from, at + 120)}...`
}
