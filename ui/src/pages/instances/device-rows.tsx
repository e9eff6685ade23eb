// Disks or network cards of a new instance: a row for each. Fields that few users need are collapsed.
import { ActionIcon, Button, Group, Stack } from '@mantine/core'
import { FieldInput } from '../../forms/field-input'
import { Fields } from '../../forms/fields'
import type { Field } from '../../forms/schema'
import { complaintsOf } from '../../forms/values'
import { Icon } from '../../icons/icon'
import { texts } from '../../texts'
import type { Row } from './draft'

interface RowsProps {
  /** The name of a row, before its number: `Disk`. */
  readonly noun: string
  readonly rows: readonly Row[]
  readonly fields: readonly Field[]
  readonly rare: readonly Field[]
  readonly none: string
  readonly change: (rows: readonly Row[]) => void
}

export function DeviceRows({ noun, rows, fields, rare, none, change }: RowsProps) {
  const put = (key: number, name: string, value: unknown) =>
    change(rows.map((row) => (row.key === key ? { key, values: { ...row.values, [name]: value } } : row)))
  return (
    <Stack gap="sm">
      {rows.length === 0 && <span className="dim">{none}</span>}
      {rows.map(({ key, values }, at) => {
        const errors = complaintsOf([...fields, ...rare], values)
        const displayed = Object.fromEntries(Object.entries(errors).filter(([name]) => Object.hasOwn(values, name)))
        return (
          <fieldset key={key} className="device-row" aria-label={`${noun} ${at}`}>
            <div className="device-fields">
              {fields.map((field) => (
                <FieldInput
                  key={field.name}
                  field={{ ...field, text: undefined }}
                  value={values[field.name] ?? field.initial}
                  error={displayed[field.name]}
                  onChange={(value) => put(key, field.name, value)}
                />
              ))}
              <ActionIcon
                variant="subtle"
                color="gray"
                mt={24}
                aria-label={texts.forms.removeNamed(`${noun} ${at}`)}
                onClick={() => change(rows.filter((row) => row.key !== key))}
              >
                <Icon name="close" size={14} />
              </ActionIcon>
            </div>
            <Fields
              fields={[]}
              others={rare}
              values={values}
              errors={displayed}
              change={(name, value) => put(key, name, value)}
            />
          </fieldset>
        )
      })}
      <Group>
        <Button
          variant="default"
          size="compact-xs"
          onClick={() => change([...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, values: {} }])}
        >
          {texts.instances.create.addRow(noun)}
        </Button>
      </Group>
    </Stack>
  )
}
