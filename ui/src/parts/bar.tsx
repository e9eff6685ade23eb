// The used share of a resource, as a text and as a bar.
import { Group, Progress } from '@mantine/core'
import { sizeText } from '../format/size'
import { texts } from '../texts'

interface UsageProps {
  /** The name of the resource, for screen readers. */
  readonly label: string
  /** In MiB. */
  readonly used: number | null | undefined
  readonly total: number | null | undefined
  /** Text and bar in one line. */
  readonly flat?: boolean
}

export function Usage({ label, used, total, flat = false }: UsageProps) {
  if (typeof used !== 'number' || typeof total !== 'number' || total <= 0) return <>–</>
  const share = Math.min(100, Math.max(0, (used / total) * 100))
  const color = share > 90 ? 'orange.7' : undefined
  const words = texts.usage(sizeText(used), sizeText(total))
  if (flat)
    return (
      <Group gap={10} wrap="nowrap">
        <Progress value={share} size="sm" color={color} aria-label={label} w={70} style={{ flex: 'none' }} />
        <span>{words}</span>
      </Group>
    )
  return (
    <>
      <span className="one-line">{words}</span>
      <Progress value={share} size="sm" mt={4} color={color} aria-label={label} />
    </>
  )
}

export const usedOf = (free: number | null | undefined, total: number | null | undefined): number | null =>
  typeof free === 'number' && typeof total === 'number' ? total - free : null
