// Lines over the picture from node to node. They follow the tiles.
import { useElementSize } from '@mantine/hooks'
import { type RefObject, useLayoutEffect, useState } from 'react'
import type { Arrow } from './cluster-picture'

interface ArrowsProps {
  readonly arrows: readonly Arrow[]
  readonly over: RefObject<HTMLElement | null>
  /** Changes when tiles move. */
  readonly layout: unknown
}

/** More lines would be a tangle; the tiles show the numbers. */
const SHOWN_MAX = 60

export function Arrows({ arrows, over, layout }: ArrowsProps) {
  const { ref, width, height } = useElementSize()
  const [paths, setPaths] = useState<readonly { readonly d: string; readonly count: number }[]>([])
  useLayoutEffect(() => {
    const root = over.current
    if (root === null) return
    const displayed = arrows.slice(0, SHOWN_MAX)
    setPaths(
      displayed.flatMap(({ from, to, count }) => {
        const [start, end] = [middleOf(root, from), middleOf(root, to)]
        return start === undefined || end === undefined ? [] : [{ d: curve(start, end), count }]
      }),
    )
  }, [arrows, over, layout, width, height])
  return (
    <div ref={ref} className="arrows">
      <svg width="100%" height="100%" aria-hidden="true" focusable="false">
        <defs>
          <marker
            id="arrow-head"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto"
            markerUnits="userSpaceOnUse"
          >
            <path d="M0 0L8 4L0 8z" className="arrow-head" />
          </marker>
        </defs>
        {paths.map(({ d, count }) => (
          <path key={d} d={d} strokeWidth={Math.min(5, 1.2 + count * 0.4)} markerEnd="url(#arrow-head)" />
        ))}
      </svg>
    </div>
  )
}

interface Point {
  readonly x: number
  readonly y: number
}

function middleOf(root: HTMLElement, node: string): Point | undefined {
  const tile = root.querySelector(`[data-node="${CSS.escape(node)}"]`)
  if (tile === null) return undefined
  const [outer, inner] = [root.getBoundingClientRect(), tile.getBoundingClientRect()]
  return { x: inner.left - outer.left + inner.width / 2, y: inner.top - outer.top + inner.height / 2 }
}

/** Curved, so that both directions are separate lines. */
function curve(start: Point, end: Point): string {
  const [dx, dy] = [end.x - start.x, end.y - start.y]
  const bend = 0.18
  const [x, y] = [start.x + dx / 2 - dy * bend, start.y + dy / 2 + dx * bend]
  return `M${round(start.x)} ${round(start.y)}Q${round(x)} ${round(y)} ${round(end.x)} ${round(end.y)}`
}

const round = (value: number): number => Math.round(value * 10) / 10
