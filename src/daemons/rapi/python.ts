// RAPI's bodies look as Python writes them: JSON with blanks after separators and ASCII only, and texts of exceptions
// with their arguments as Python's repr shows them.
import { pythonRepr } from '../../lib/text/python-text'
import { memoizeFrozen } from '../../lib/memoize-frozen'
import { PythonWriter } from './python-writer'

/** JSON as Python's json.dumps writes it. */
export const pythonJson = memoizeFrozen((value: unknown): Buffer =>
  new PythonWriter().write(JSON.stringify(value ?? null)),
)

/** An exception as Python's str shows it: one argument as it is, several as a tuple. */
export function pythonErrorText(args: readonly unknown[]): string {
  const [first] = args
  if (args.length === 0) return ''
  if (args.length === 1) return typeof first === 'string' ? first : pythonRepr(first)
  return `(${args.map(pythonRepr).join(', ')})`
}

/** The name of a JSON value's type in Python. */
export function pythonType(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'str'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  return 'dict'
}
