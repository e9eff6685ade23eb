// A set of a disk's blocks, one bit for each. The first block is the lowest bit of the first byte.

/** The size of a block in bytes. Notes are kept for whole blocks. */
export const BLOCK = 64 << 10

export class Blocks {
  private set: number

  constructor(private bits: Buffer = Buffer.alloc(0)) {
    this.set = countBits(bits)
  }

  /** How many blocks it has. */
  get count(): number {
    return this.set
  }

  get bytes(): Buffer {
    return this.bits
  }

  has = (block: number): boolean => ((this.bits[block >> 3] ?? 0) & (1 << (block & 7))) !== 0

  put(block: number): void {
    if (!this.has(block)) this.flip(block)
  }

  /** Adds the blocks of these bytes of the disk. */
  add(start: number, end: number): void {
    this.reach(end)
    for (let block = firstOf(start); block <= lastOf(end); block++) this.put(block)
  }

  addAll({ bits }: Blocks): void {
    if (bits.length > this.bits.length) this.bits = Buffer.concat([this.bits], bits.length)
    for (const [at, byte] of bits.entries()) if (byte !== 0) this.bits.writeUInt8((this.bits[at] ?? 0) | byte, at)
    this.set = countBits(this.bits)
  }

  remove(start: number, end: number): void {
    for (let block = firstOf(start); block <= lastOf(end); block++) if (this.has(block)) this.flip(block)
  }

  /** Has a bit for each block of a disk of this size. */
  reach(size_bytes: number): void {
    const length = bytesFor(size_bytes)
    if (length > this.bits.length) this.bits = Buffer.concat([this.bits], length)
  }

  clear(): void {
    this.bits.fill(0)
    this.set = 0
  }

  private flip(block: number): void {
    const bit = 1 << (block & 7)
    const byte = (this.bits[block >> 3] ?? 0) ^ bit
    this.bits.writeUInt8(byte, block >> 3)
    this.set += (byte & bit) !== 0 ? 1 : -1
  }
}

export const firstOf = (start: number): number => Math.floor(start / BLOCK)
export const lastOf = (end: number): number => Math.floor((end - 1) / BLOCK)

/** The length of the set of a disk's blocks. */
export const bytesFor = (size_bytes: number): number => Math.ceil(Math.ceil(size_bytes / BLOCK) / 8)

function countBits(bits: Buffer): number {
  let count = 0
  for (const byte of bits) for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1
  return count
}
