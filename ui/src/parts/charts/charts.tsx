// Charts of the last hours, each with its figures in words.
import { Button, Group } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { zoneText } from '../../format/time'
import { texts } from '../../texts'
import { Card, Nothing } from '../page'
import { ProblemBox } from '../problem-box'
import { type Figures, inWords, type Measured } from './figures'

const own = texts.metrics
const Plot = lazy(async () => ({ default: (await import('./plot')).Plot }))

interface ChartsProps {
  /** Undefined while it is being loaded. */
  readonly measured: Measured | undefined
  readonly charts: readonly Figures[]
  readonly error: Error | null
  readonly isFetching: boolean
  readonly refetch: () => unknown
  /** Shown when nothing was measured. */
  readonly nothing: string
}

export function Charts({ measured, charts, error, isFetching, refetch, nothing }: ChartsProps) {
  return (
    <Card
      title={own.title}
      aside={
        <Group gap="sm">
          <span className="zone">{own.zone(zoneText())}</span>
          <Button variant="subtle" size="compact-xs" loading={isFetching} onClick={() => void refetch()}>
            {own.ask}
          </Button>
        </Group>
      }
    >
      <ProblemBox error={error} />
      {measured === undefined && !error && <Nothing text={texts.table.loading} />}
      {measured?.times.length === 0 && <Nothing text={nothing} />}
      {measured !== undefined && measured.times.length > 0 && (
        <div className="charts">
          {charts.map((figures) => (
            <Chart key={figures.title} measured={measured} figures={figures} />
          ))}
        </div>
      )}
    </Card>
  )
}

function Chart({ measured, figures }: { measured: Measured; figures: Figures }) {
  return (
    <figure className="chart" aria-label={figures.title}>
      <h3>{figures.title}</h3>
      <Suspense fallback={<div className="plot" />}>
        <Plot measured={measured} figures={figures} together="last-hours" />
      </Suspense>
      <figcaption>
        {inWords(measured, figures).map((line) => (
          <div key={line}>{line}</div>
        ))}
      </figcaption>
    </figure>
  )
}
