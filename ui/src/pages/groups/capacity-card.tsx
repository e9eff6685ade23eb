// A form that calculates how many instances of a size still fit into a group.
import { Button, Group, NumberInput, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { request } from '../../api/client'
import { useCluster } from '../../api/cluster'
import type { components } from '../../api/schema'
import { parseSize } from '../../format/size'
import { CopyAs } from '../../parts/copy-as'
import { Card } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { capacityQuestion } from '../../parts/question-request'
import { texts } from '../../texts'

type Capacity = components['schemas']['Capacity']
/** If the calculation takes long, the answer is the id of a job. */
type Answer = Capacity | { readonly id: number }

const own = texts.groups.capacity

export function CapacityCard({ group }: { group: string }) {
  const cluster = useCluster()
  const templates = cluster.data?.enabled_disk_templates ?? []
  const [template, setTemplate] = useState<string>()
  const [sizes, setSizes] = useState({ memory: '1g', disk: '10g' })
  const [vcpus, setVcpus] = useState(1)
  const chosen = template ?? templates[0] ?? 'diskless'
  const [memory_mib, disk_mib] = [parseSize(sizes.memory), parseSize(sizes.disk)]
  const question =
    memory_mib === undefined || disk_mib === undefined
      ? undefined
      : capacityQuestion({
          spec: {
            disk_template: chosen,
            memory_mib,
            vcpus,
            ...(chosen === 'diskless' ? {} : { disks_mib: [disk_mib] }),
          },
          ...{ groups: [group], max_instances: 1000, explain: true },
        })
  const ask = useMutation({
    mutationFn: async () => (await request('POST', '/3/capacity', question?.body)) as Answer,
  })
  const wrong = (label: string, size: number | undefined) =>
    size === undefined ? texts.forms.noSize(label) : undefined
  return (
    <Card title={own.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (question !== undefined && !ask.isPending) ask.mutate()
        }}
      >
        <Stack gap="sm" p="12px 14px">
          <Text size="sm">{own.text}</Text>
          <Group gap="sm" align="flex-end">
            <Select
              w={130}
              label={own.template}
              value={chosen}
              data={templates}
              onChange={(next) => setTemplate(next ?? undefined)}
            />
            <TextInput
              w={90}
              label={own.memory}
              value={sizes.memory}
              error={wrong(own.memory, memory_mib)}
              onChange={(event) => setSizes({ ...sizes, memory: event.currentTarget.value })}
            />
            <NumberInput w={80} label={own.vcpus} value={vcpus} min={1} onChange={(next) => setVcpus(Number(next))} />
            <TextInput
              w={90}
              label={own.disk}
              value={sizes.disk}
              disabled={chosen === 'diskless'}
              error={wrong(own.disk, disk_mib)}
              onChange={(event) => setSizes({ ...sizes, disk: event.currentTarget.value })}
            />
            <Button type="submit" variant="default" loading={ask.isPending} disabled={question === undefined}>
              {own.ask}
            </Button>
            {question !== undefined && (
              <Group gap={0}>
                <CopyAs request={question} />
              </Group>
            )}
          </Group>
          <ProblemBox error={ask.error} />
          {ask.data && <Told answer={ask.data} />}
        </Stack>
      </form>
    </Card>
  )
}

function Told({ answer }: { answer: Answer }) {
  if (!('fits' in answer))
    return (
      <Text size="sm" component={Link} to={`/jobs/${answer.id}`}>
        {own.job(answer.id)}
      </Text>
    )
  const why = answer.groups[0]?.reason
  return (
    <div role="status">
      <Text size="sm" fw={600}>
        {own.fits(answer.fits)}
      </Text>
      {why && (
        <Text size="sm" c="dimmed">
          {own.why}: {why}
        </Text>
      )}
    </div>
  )
}
