// Faults of single files, for the disks of tests. A step of a file fails as often as planned, while everything else goes well.
//   write   nothing reaches the file (no space, an IO error)
//   rename  the new content is there, but does not get the file's name
//   sync    everything is in place, only the answer is an error: a power cut may or may not keep it
export const DISK_STEPS = ['write', 'rename', 'sync'] as const
export type DiskStep = (typeof DISK_STEPS)[number]

export interface DiskFault {
  readonly file: string
  readonly step: DiskStep
  readonly times: number
  readonly code?: 'EIO' | 'ENOSPC'
}

export class DiskFaults {
  private readonly left = new Map<string, Pick<DiskFault, 'times' | 'code'>>()

  /** From now on the step fails `times` times. */
  plan({ file, step, times, code }: DiskFault): void {
    this.left.set(key(file, step), { times, code })
  }

  clear(): void {
    this.left.clear()
  }

  /** Throws if the step is to fail now. */
  strike(file: string, step: DiskStep): void {
    const planned = this.left.get(key(file, step))
    if (planned === undefined || planned.times <= 0) return
    const { times, code = 'EIO' } = planned
    this.left.set(key(file, step), { times: times - 1, code })
    throw Object.assign(new Error(`${code}: ${step} '${file}'`), { code, path: file })
  }
}

const key = (file: string, step: DiskStep): string => `${step} ${file}`
