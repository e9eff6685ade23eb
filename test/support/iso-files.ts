// Reads the content of a small ISO 9660 file system as a kernel does: from the volume's descriptor to the root and its files.

export function filesOfIso(image: Uint8Array): { label: string; files: Record<string, string> } {
  const bytes = Buffer.from(image)
  const sector = (at: number, length = 2048) => bytes.subarray(at * 2048, at * 2048 + length)
  const volume = sector(16)
  expect(volume.toString('latin1', 0, 7)).toBe('\x01CD001\x01')
  expect(volume.readUInt32LE(80) * 2048).toBe(bytes.length)
  const root = sector(volume.readUInt32LE(158), volume.readUInt32LE(166))
  const files: Record<string, string> = {}
  for (let at = 0; root[at]; at += root[at] ?? 0) {
    const record = root.subarray(at, at + (root[at] ?? 0))
    const name = longName(record)
    if (name !== undefined) files[name] = sector(record.readUInt32LE(2), record.readUInt32LE(10)).toString()
  }
  return { label: volume.toString('latin1', 40, 72).trimEnd(), files }
}

/** The name from the Rock Ridge entry. The entries of the directory itself and of its parent have none. */
function longName(record: Buffer): string | undefined {
  const short = record[32] ?? 0
  for (let at = 33 + short + ((short + 1) % 2); at + 4 <= record.length; at += record[at + 2] ?? record.length)
    if (record.toString('latin1', at, at + 2) === 'NM')
      return record.toString('latin1', at + 5, at + (record[at + 2] ?? 0))
  return undefined
}
