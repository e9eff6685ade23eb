// The actions of the console for tests: each with an object of its kind, and values that people may type into its form. The modules are
// written for a browser, so the compiler does not check their use here.
import { readdirSync } from 'node:fs'
import * as path from 'node:path'

export type Body = Readonly<Record<string, unknown>>

/** A request of the console, and the same for gnt. */
export interface ConsoleRequest {
  readonly method: string
  readonly path: string
  readonly body: Body
  readonly gnt: string
}

export interface FormField {
  readonly name: string
  readonly kind: string
  readonly initial: unknown
  readonly required?: boolean
  readonly source?: string
  readonly min?: number
  readonly max?: number
  readonly fraction?: boolean
  readonly choices?: readonly (string | { readonly value: string })[]
  readonly names?: readonly string[]
}

type FieldsOf = readonly FormField[] | ((subject: unknown) => readonly FormField[])

export interface Form {
  readonly fields: FieldsOf
  readonly others?: FieldsOf
  readonly request: (subject: unknown, body: Body) => ConsoleRequest
  /** Returns why the request cannot be sent, or undefined. */
  readonly complaint?: (subject: unknown, body: Body) => string | undefined
}

export interface ConsoleAction extends Partial<Form> {
  readonly id: string
  readonly label: string
  readonly permission: string
  readonly beyond?: (subject: unknown) => string | undefined
  readonly unfit?: (subject: unknown) => string | undefined
  readonly forOthers?: boolean
  /** Present if the action has its own dialog, which is made from this. */
  readonly spec?: Omit<Form, 'complaint'> & { readonly complaint?: (body: Body) => string | undefined }
}

export const UI = path.join(__dirname, '../../ui/src')

/** A module of the console. */
export const consoleModule = <Exports extends object>(file: string): Exports =>
  jest.requireActual<Exports>(path.join(UI, file))

const isAction = (value: unknown): value is ConsoleAction =>
  typeof value === 'object' && value !== null && 'id' in value && 'label' in value && 'permission' in value

/** Everything that the modules export, alone or in lists, by file. */
export function actionsOf(file: string): ConsoleAction[] {
  const all = Object.values(consoleModule<Readonly<Record<string, unknown>>>(file)).flat()
  return [...new Set(all.filter(isAction))]
}

/** The source files of the console, relative to its folder. */
export const consoleFiles = (): string[] =>
  readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))

export function formOf({ spec, ...action }: ConsoleAction): Form | undefined {
  if (spec !== undefined) return { ...spec, complaint: (_subject, body) => spec.complaint?.(body) }
  return action.request === undefined ? undefined : (action as Form)
}

export const fieldsFor = (fields: FieldsOf | undefined, subject: unknown): readonly FormField[] =>
  typeof fields === 'function' ? fields(subject) : (fields ?? [])
