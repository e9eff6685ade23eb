// The plot of a chart, drawn by uPlot, which is loaded with the first chart.
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { clockText, timeText } from '../../format/time'
import { texts } from '../../texts'
import { type Figures, type Measured, plotted, type Unit, valueText } from './figures'

const HEIGHT_PX = 180
/** The shortest time span that fills the whole width. */
const NARROWEST_S = 600

interface PlotProps {
  readonly measured: Measured
  readonly figures: Figures
  /** Charts with the same value show the same time under the pointer. */
  readonly together: string
}

export function Plot({ measured, figures, together }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const scheme = useComputedColorScheme()
  useEffect(() => {
    const box = place.current
    if (box === null) return
    const data = plotted(measured, figures.lines) as UPlot.AlignedData
    const plot = new UPlot(optionsOf(figures, together, box), data, box)
    const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT_PX }))
    observer.observe(box)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [measured, figures, together, scheme])
  return <div ref={place} className="plot" aria-hidden />
}

function optionsOf({ unit, lines }: Figures, together: string, box: HTMLElement): UPlot.Options {
  const style = getComputedStyle(box)
  const color = (name: string) => style.getPropertyValue(name)
  const axis = {
    stroke: color('--mantine-color-dimmed'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  }
  return {
    ...{ width: box.clientWidth, height: HEIGHT_PX },
    cursor: { sync: { key: together }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: true, range: (_plot, min, max) => [Math.min(min, max - NARROWEST_S), max] },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, space: 70, size: 28, values: (_plot, seconds) => seconds.map((time) => clockText(time * 1000)) },
      {
        ...axis,
        size: 84,
        incrs: STEPS[unit],
        values: (_plot, values) => values.map((value) => valueText(unit, value)),
      },
    ],
    series: [
      {
        label: texts.metrics.time,
        value: (_plot, time) => (time === null ? '–' : timeText(new Date(time * 1000).toISOString())),
      },
      ...lines.map(({ label }, at) => ({
        ...{ label, width: 1.5, stroke: color(`--series-${at}`), dash: at === 0 ? [] : [6, 3] },
        value: (_plot: UPlot, value: number | null) => valueText(unit, value),
      })),
    ],
  }
}

const powers = (base: number, from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => base ** (from + at))
const BINARY = powers(2, 0, 50)

/** Steps between grid lines: those of sizes are binary. */
const STEPS: Readonly<Record<Unit, number[]>> = {
  number: powers(10, -2, 8).flatMap((step) => [step, 2 * step, 5 * step]),
  bytes: BINARY,
  rate: BINARY,
}
