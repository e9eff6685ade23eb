// Links to objects. Of a long list, only the first ones are shown.
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { byName } from '../format/by-name'
import { texts } from '../texts'
import { Nothing } from './page'

type Kind = 'instance' | 'node' | 'group' | 'network'

const SHOWN_MAX = 50

/** A link to the page of an object. Kinds without a page lead to the cluster's page. */
export function ObjectLink({ kind, name }: { kind: string; name: string }) {
  switch (kind) {
    case 'instance':
      return (
        <Link to="/instances/$name" params={{ name }}>
          {name}
        </Link>
      )
    case 'node':
      return (
        <Link to="/nodes/$name" params={{ name }}>
          {name}
        </Link>
      )
    case 'group':
      return (
        <Link to="/groups/$name" params={{ name }}>
          {name}
        </Link>
      )
    case 'network':
      return (
        <Link to="/networks/$name" params={{ name }}>
          {name}
        </Link>
      )
    default:
      return <Link to="/cluster">{name}</Link>
  }
}

interface NamesProps {
  readonly kind: Kind
  readonly names: readonly string[] | null | undefined
  readonly none: string
}

export function NameLinks({ kind, names, none }: NamesProps) {
  const all = useMemo(() => [...(names ?? [])].sort(byName), [names])
  if (all.length === 0) return <Nothing text={none} />
  return (
    <div className="names">
      {all.slice(0, SHOWN_MAX).map((name) => (
        <ObjectLink key={name} kind={kind} name={name} />
      ))}
      {all.length > SHOWN_MAX && <span className="dim">{texts.more(all.length - SHOWN_MAX)}</span>}
    </div>
  )
}
