/** A value as Python prints it: scripts of OS definitions and readers of exports know no other form. */
export function pythonText(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  return value === null || value === undefined ? 'None' : String(value)
}
