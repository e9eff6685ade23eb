// The dying nodes and arriving instances, and the result.
import { Button, CloseButton, Group, Select, Stack, Text } from '@mantine/core'
import { useMemo } from 'react'
import { useRefusal } from '../../api/session'
import { Fields } from '../../forms/fields'
import type { Field } from '../../forms/schema'
import type { Form } from '../../forms/use-form'
import { sizeWord } from '../../format/size'
import { CopyAs } from '../../parts/copy-as'
import { ProblemBox } from '../../parts/problem-box'
import { QUESTION_PERMISSION } from '../../parts/question'
import { whatIfQuestion } from '../../parts/question-request'
import { RefusableButton } from '../../parts/disable-with-reason'
import type { Spec } from '../../parts/standard-spec'
import { texts } from '../../texts'
import type { ClusterNode } from '../nodes/node'
import { tagsOf } from './cluster-picture'
import { WhatIfResult } from './what-if-result'
import type { WhatIfState } from './use-what-if'

const own = texts.topology.whatIf

/** The form for arriving instances; by default of the standard size. */
export function arrivalFields(
  spec: Spec | undefined,
  templates: readonly string[],
  groups: readonly string[],
): Field[] {
  return [
    { kind: 'number', name: 'count', label: own.count, initial: '', min: 0, placeholder: '0' },
    { kind: 'size', name: 'memory', label: own.memory, initial: sizeWord(spec?.memory_mib ?? 1024), required: true },
    { kind: 'number', name: 'vcpus', label: own.vcpus, initial: spec?.vcpus ?? 1, min: 1, required: true },
    {
      ...{ kind: 'choice', name: 'disk_template', label: own.template },
      ...{ initial: spec?.disk_template ?? '', choices: templates },
    },
    { kind: 'size', name: 'disk', label: own.disk, initial: sizeWord(spec?.disks_mib?.[0] ?? 1024) },
    {
      ...{ kind: 'choice', name: 'group', label: own.group, initial: '', choices: groups },
      placeholder: texts.topology.allGroups,
    },
  ]
}

interface PanelProps {
  readonly nodes: readonly ClusterNode[]
  readonly whatIf: WhatIfState
  readonly form: Form
  readonly fields: readonly Field[]
}

export function WhatIfPanel({ nodes, whatIf, form, fields }: PanelProps) {
  const refusal = useRefusal()(QUESTION_PERMISSION['/3/whatif'])
  const { draft, request, change } = whatIf
  const why = refusal ?? (request === undefined ? own.nothing : undefined)
  return (
    <Stack gap="sm">
      <Text size="sm">{own.text}</Text>
      <Dying {...{ nodes, whatIf }} />
      <details className="arriving">
        <summary>{own.arriving}</summary>
        <div className="pair">
          <Fields fields={fields} values={form.values} errors={form.errors} change={form.change} />
        </div>
      </details>
      <Group>
        <RefusableButton whyNot={why} disabled={!form.complete} loading={whatIf.busy} onClick={() => whatIf.ask()}>
          {own.ask}
        </RefusableButton>
        {draft.dying.length > 0 && (
          <Button variant="default" onClick={() => change({ dying: [], tag: '' })}>
            {own.clear}
          </Button>
        )}
        {request !== undefined && form.complete && (
          <Group gap={0}>
            <CopyAs request={whatIfQuestion(request)} />
          </Group>
        )}
      </Group>
      <ProblemBox error={whatIf.error} />
      {whatIf.told !== undefined && <WhatIfResult told={whatIf.told} old={whatIf.old} />}
    </Stack>
  )
}

const NAMED_MAX = 12

function Dying({ nodes, whatIf: { draft, change } }: Pick<PanelProps, 'nodes' | 'whatIf'>) {
  const tags = useMemo(() => tagsOf(nodes), [nodes])
  const { dying, tag } = draft
  return (
    <>
      <div role="group" aria-label={own.dying}>
        <Text size="xs" fw={600}>
          {own.dying}
        </Text>
        {dying.length === 0 && (
          <Text size="xs" c="dimmed">
            {tag === '' ? own.noneDying : own.dyingByTag}
          </Text>
        )}
        <Group gap={4} mt={4}>
          {dying.slice(0, NAMED_MAX).map((name) => (
            <span key={name} className="tag">
              {name}
              <CloseButton
                size="xs"
                aria-label={own.live(name)}
                onClick={() => change({ dying: dying.filter((one) => one !== name) })}
              />
            </span>
          ))}
          {dying.length > NAMED_MAX && <Text size="xs">{texts.topology.look.more(dying.length - NAMED_MAX)}</Text>}
        </Group>
      </div>
      <Select
        label={own.tag}
        placeholder={own.anyTag}
        value={tag === '' ? null : tag}
        data={tags.map(([value, count]) => ({ value, label: `${value} (${texts.topology.nodes(count)})` }))}
        disabled={tags.length === 0}
        clearable
        searchable
        onChange={(next) => change({ tag: next ?? '' })}
      />
    </>
  )
}
