// What the cluster can say of an operating system.
import { schema } from 'openapi:PATCH /3/os/{name}'
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { type Field, fieldOf } from '../../forms/schema'
import type { Action } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { texts } from '../../texts'

export type Os = Named<components['schemas']['OsView']>

const own = texts.os

const json = (name: string, label: string, value: unknown): Field => ({
  ...{ kind: 'json', name, label, text: own.json, initial: JSON.stringify(value ?? {}) },
})

export const CHANGE_OS: Action<Os> = {
  ...{ id: 'change', label: own.change, permission: 'cluster.modify' },
  text: ({ name }) => own.changeText(name),
  fields: ({ hidden, blacklisted, osparams, os_hvp }) => [
    fieldOf(schema, 'hidden', { label: own.hiddenField, text: '', initial: hidden }),
    fieldOf(schema, 'blacklisted', { label: own.blacklistedField, text: '', initial: blacklisted }),
    json('osparams', own.osparams, osparams),
    json('hvparams', own.hvparams, os_hvp),
  ],
  request: ({ name }, body) => ({
    ...{ method: 'PATCH', path: `/3/os/${encodeURIComponent(name)}`, body },
    gnt: gntText('os modify', yesNo(body), [name], { osparams: 'os-parameters', hvparams: null }),
  }),
}

const yesNo = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === 'boolean' ? (value ? 'yes' : 'no') : value]),
  )
