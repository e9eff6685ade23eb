// The files of simulated machines that hold volumes: what was written is in memory first, as in a kernel, and on the disk when it was
// flushed. A power failure takes what was not.
import type { FileHandle } from 'node:fs/promises'
import type { Files } from '../../src/lib/files'
import type { CommandResult } from '../../src/lib/programs/run-command'
import type { SimProcess, Simulator } from './simulator'

const PAGE = 4096
type Pages = Map<number, Buffer>

interface Content {
  size: number
  /** As processes see it. */
  pages: Pages
  /** As it is on the disk. */
  stable: Pages
  readonly dirty: Set<number>
  /** What fails. */
  fault: 'write' | 'flush' | undefined
}

export class SimFiles {
  private readonly contents = new Map<string, Content>()
  private readonly handles = new Map<number, Content>()
  private nextFd = 10

  constructor(private readonly simulator: Simulator) {}

  make(file: string, size: number): void {
    this.contents.set(file, { size, pages: new Map(), stable: new Map(), dirty: new Set(), fault: undefined })
  }

  has = (file: string): boolean => this.contents.has(file)
  remove = (file: string): void => void this.contents.delete(file)

  rename(from: string, to: string): void {
    this.contents.set(to, this.need(from))
    this.contents.delete(from)
  }

  resize(file: string, size: number): void {
    this.need(file).size = size
  }

  /** The file fails from now on, whatever its name, until it is mended. */
  fail(file: string, fault: Content['fault']): () => void {
    const content = this.contents.get(file)
    if (content !== undefined) content.fault = fault
    return () => {
      if (content !== undefined) content.fault = undefined
    }
  }

  /** For the test: the content as processes see it now. */
  peek = (file: string, offset: number, length: number): Buffer => read(this.need(file), offset, length)

  /** The machine has lost its power: each page that was not flushed is there as before, or as it was written. */
  crash(below: string): void {
    for (const [file, content] of this.contents) {
      if (!file.startsWith(below)) continue
      for (const page of content.dirty)
        if (this.simulator.chance(0.5)) keep(content.stable, page, content.pages.get(page))
      content.pages = new Map(content.stable)
      content.dirty.clear()
      content.fault = undefined
    }
  }

  isOpen = (file: string): boolean => [...this.handles.values()].includes(this.need(file))

  /** As a process sees them: its machine's are below this folder. */
  of(process: SimProcess, root = ''): Files {
    const pause = () => this.pause(process)
    const own = {
      open: async (file: string, flags: string) => {
        await pause()
        if (flags === 'a' && !this.has(root + file)) this.make(root + file, 0)
        return this.handle(process, this.need(root + file))
      },
      stat: async (file: string) => {
        await pause()
        return { size: this.need(root + file).size }
      },
      ...{ mkdir: pause, chmod: pause, rm: pause },
    }
    return own as unknown as Files
  }

  /** As fallocate does it. */
  run = async (argv: readonly string[]): Promise<CommandResult> => {
    const [, , , offset, , length, file = ''] = argv
    const content = this.handles.get(Number(file.split('/').at(-1)))
    const code = content === undefined || content.fault === 'write' ? 1 : 0
    if (content !== undefined && code === 0) write(content, Buffer.alloc(Number(length)), Number(offset))
    return { code, signal: null, stdout: '', stderr: '', output: '', timedOut: false }
  }

  private handle(process: SimProcess, content: Content): FileHandle {
    const fd = this.nextFd++
    this.handles.set(fd, content)
    const close = () => void this.handles.delete(fd)
    process.onEnd(close)
    const use = async <T>(work: () => T): Promise<T> => {
      await this.pause(process)
      if (!this.handles.has(fd)) throw failure('EBADF')
      const done = work()
      await this.pause(process)
      return done
    }
    const handle = {
      fd,
      read: (bytes: Buffer, offset: number, length: number, position: number) =>
        use(() => {
          const found = read(content, position, Math.max(0, Math.min(length, content.size - position)))
          found.copy(bytes, offset)
          return { bytesRead: found.length, buffer: bytes }
        }),
      write: (bytes: Buffer, offset: number, length: number, position: number) =>
        use(() => {
          if (content.fault === 'write') throw failure('EIO')
          // Now and then the kernel takes only a part.
          const bytesWritten = length > 1 && this.simulator.chance(0.02) ? length >> 1 : length
          write(content, bytes.subarray(offset, offset + bytesWritten), position)
          return { bytesWritten, buffer: bytes }
        }),
      datasync: () =>
        use(() => {
          if (content.fault === 'flush') {
            // The kernel tells of it once, and takes the pages for clean.
            content.dirty.clear()
            throw failure('EIO')
          }
          for (const page of content.dirty) keep(content.stable, page, content.pages.get(page))
          content.dirty.clear()
        }),
      stat: () => use(() => ({ size: content.size })),
      truncate: (size: number) =>
        use(() => {
          content.size = size
          for (const pages of [content.pages, content.stable])
            for (const page of pages.keys()) if (page * PAGE >= size) pages.delete(page)
        }),
      close: () => use(close),
    }
    return handle as unknown as FileHandle
  }

  private need(file: string): Content {
    const content = this.contents.get(file)
    if (content === undefined) throw Object.assign(new Error(`${file}: no such file`), { code: 'ENOENT' })
    return content
  }

  private pause(process: SimProcess): Promise<void> {
    return new Promise((resolve) => {
      process.simulator.after(process.simulator.between(0.01, 0.2), process, resolve)
    })
  }
}

const failure = (code: string): Error => Object.assign(new Error(code), { code })

/** Pages are never changed, but replaced. */
function keep(pages: Pages, page: number, content: Buffer | undefined): void {
  if (content === undefined) pages.delete(page)
  else pages.set(page, content)
}

function read({ pages }: Content, offset: number, length: number): Buffer {
  const found = Buffer.alloc(length)
  for (let at = offset; at < offset + length;) {
    const [page, from] = [Math.floor(at / PAGE), at % PAGE]
    const size = Math.min(PAGE - from, offset + length - at)
    pages.get(page)?.copy(found, at - offset, from, from + size)
    at += size
  }
  return found
}

function write({ pages, dirty }: Content, bytes: Buffer, offset: number): void {
  for (let at = offset; at < offset + bytes.length;) {
    const [page, from] = [Math.floor(at / PAGE), at % PAGE]
    const size = Math.min(PAGE - from, offset + bytes.length - at)
    const content = Buffer.from(pages.get(page) ?? Buffer.alloc(PAGE))
    bytes.copy(content, from, at - offset, at - offset + size)
    pages.set(page, content)
    dirty.add(page)
    at += size
  }
}
