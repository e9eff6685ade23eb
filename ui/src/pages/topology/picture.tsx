// The cluster as a picture: a list of tiles for each group, with lines that show moves. The Tab key reaches one tile;
// arrow keys lead to the others.
import { Anchor, Title } from '@mantine/core'
import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from 'react'
import { texts } from '../../texts'
import type { Instance } from '../instances/instance'
import type { ClusterNode } from '../nodes/node'
import { Arrows } from './arrows'
import { type GroupPicture, type Happening, primariesOf, shortNames, stepOf, UNMARKED } from './cluster-picture'
import { NodeTile } from './node-tile'

const own = texts.topology

interface PictureProps {
  readonly groups: readonly GroupPicture[]
  readonly happening: Happening
  readonly chosen: ReadonlySet<string>
  /** Whether several nodes may be chosen. */
  readonly several: boolean
  readonly instances: readonly Instance[] | undefined
  /** Whether there is room for names. */
  readonly wide: boolean
  readonly choose: (node: string) => void
  /** Shows one group alone; undefined if that is already so. */
  readonly zoom?: (group: string) => void
}

export function Picture(props: PictureProps) {
  const { groups, happening, instances, wide, zoom } = props
  const root = useRef<HTMLDivElement>(null)
  const byNode = useMemo(() => instances && instancesByNode(instances), [instances])
  const names = useMemo(() => shortNames(groups.flatMap(({ nodes }) => nodes.map(({ name }) => name))), [groups])
  return (
    <div className="picture" ref={root}>
      {groups.map((group) => (
        <section key={group.name} aria-label={group.name}>
          <div className="picture-group">
            <Title order={2} size="sm">
              {group.name}
            </Title>
            <span className="dim">{own.groupNote(group.nodes.length, primariesOf(group.nodes))}</span>
            {zoom !== undefined && (
              <Anchor component="button" type="button" size="xs" onClick={() => zoom(group.name)}>
                {own.look.zoom}
                <span className="unseen"> {group.name}</span>
              </Anchor>
            )}
          </div>
          <Tiles {...props} nodes={group.nodes} label={group.name} names={names} byNode={byNode} />
        </section>
      ))}
      <Arrows arrows={happening.arrows} over={root} layout={`${wide} ${groups.length} ${instances?.length ?? 0}`} />
    </div>
  )
}

interface TilesProps extends PictureProps {
  readonly nodes: readonly ClusterNode[]
  readonly label: string
  readonly names: ReadonlyMap<string, string>
  readonly byNode: ReadonlyMap<string, readonly Instance[]> | undefined
}

const NONE: readonly Instance[] = []

function Tiles({ nodes, label, names, byNode, happening, chosen, several, wide, choose }: TilesProps) {
  const list = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(0)
  const current = Math.min(at, nodes.length - 1)
  const click = ({ target }: MouseEvent) => {
    const name = target instanceof Element ? target.closest('[data-node]')?.getAttribute('data-node') : undefined
    if (typeof name !== 'string') return
    setAt(nodes.findIndex((node) => node.name === name))
    choose(name)
  }
  const press = (event: KeyboardEvent) => {
    const node = nodes[current]
    if (node !== undefined && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault()
      return choose(node.name)
    }
    const next = stepOf(event.key, current, nodes.length, columnsOf(list.current))
    if (next === undefined) return
    event.preventDefault()
    setAt(next)
    const tile = list.current?.children[next]
    if (tile instanceof HTMLElement) tile.focus()
  }
  return (
    <div
      ref={list}
      role="listbox"
      aria-label={label}
      aria-multiselectable={several}
      className={wide ? 'tiles tiles-wide' : 'tiles'}
      onClick={click}
      onKeyDown={press}
    >
      {nodes.map((node, index) => (
        <NodeTile
          key={node.name}
          node={node}
          name={names.get(node.name) ?? node.name}
          mark={happening.marks.get(node.name) ?? UNMARKED}
          wide={wide}
          chosen={chosen.has(node.name)}
          current={index === current}
          instances={byNode && (byNode.get(node.name) ?? NONE)}
        />
      ))}
    </div>
  )
}

const columnsOf = (list: HTMLElement | null): number =>
  list === null ? 1 : getComputedStyle(list).gridTemplateColumns.split(' ').length

function instancesByNode(instances: readonly Instance[]): Map<string, Instance[]> {
  const byNode = new Map<string, Instance[]>()
  for (const instance of instances) {
    const node = instance.pnode ?? ''
    const there = byNode.get(node)
    if (there === undefined) byNode.set(node, [instance])
    else there.push(instance)
  }
  return byNode
}
