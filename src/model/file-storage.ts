// Where disk files can never be, whoever asks for it.
const FORBIDDEN = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib64',
  '/proc',
  '/root',
  '/sbin',
  '/sys',
  '/usr',
]

/** For a path without `.` and `..`. */
export const isForbiddenForFiles = (file: string): boolean =>
  file === '/' || FORBIDDEN.some((directory) => isBelow(file, directory))

export const isBelow = (file: string, directory: string): boolean =>
  file === directory || file.startsWith(`${directory}/`)
