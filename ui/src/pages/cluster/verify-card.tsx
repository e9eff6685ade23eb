// The last verification and its findings. The job of verify submits further jobs, which make the checks.
import { Link } from '@tanstack/react-router'
import { ObjectLink } from '../../parts/names'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { useVerified } from './use-verified'
import type { Verified } from '../../parts/verified'

const own = texts.cluster.verify

export function VerifyCard() {
  const { last, error, retry } = useVerified(true)
  return (
    <Card title={own.title}>
      <Nothing text={own.text} />
      <ProblemBox error={error} retry={retry} />
      {last === null && <Nothing text={own.none} />}
      {last && <Found verified={last} />}
    </Card>
  )
}

function Found({ verified }: { verified: Verified }) {
  const { id, found, broken } = verified
  return (
    <>
      <div className="line">
        <Link to="/jobs/$id" params={{ id: String(id) }}>
          <Status tone={toneOf(verified)} text={textOf(verified)} />
        </Link>
      </div>
      {broken.map(({ job, why }) => (
        <div key={`${job} ${why}`} className="line">
          <Link to="/jobs/$id" params={{ id: String(job) }}>
            <Status tone="bad" text={own.broken(job, why)} />
          </Link>
        </div>
      ))}
      {found.length > 0 && (
        <Rows
          label={own.title}
          head={own.columns}
          none={own.none}
          rows={found.map(({ level, kind, name, text: reported }) => [
            <Status key="level" tone={level === 'error' ? 'bad' : 'warn'} text={own.level[level] ?? level} />,
            name === '' ? kind : <ObjectLink key="object" kind={kind} name={name} />,
            reported,
          ])}
        />
      )}
    </>
  )
}

function textOf({ id, running, found, broken }: Verified): string {
  if (running) return own.running(id)
  if (found.length > 0) return own.found(found.length, id)
  return broken.length > 0 ? own.unfinished(id) : own.well(id)
}

function toneOf({ running, found, broken }: Verified): Tone {
  if (running) return 'busy'
  if (broken.length > 0 || found.some(({ level }) => level === 'error')) return 'bad'
  return found.length > 0 ? 'warn' : 'good'
}
