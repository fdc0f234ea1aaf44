// Days as stacked bars, a colour for each of the dearest projects. The tables beside it hold the same numbers.

import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { money } from '../format.ts'
import { theme } from '../ui/theme.ts'
import { stack } from './stack.ts'
import type { Sum } from './spending.ts'

interface Props {
  days: string[]
  sums: Sum[]
  chosen: string
  choose: (day: string) => void
}

const HEIGHT = 220
/** Between the lines of the scale: whole cents, so that each is named exactly. */
const STEPS = [0.01, 0.1, 1, 10, 100, 1000, 10_000].flatMap(power => [power, 2 * power, 5 * power])

export function CostChart({ days, sums, chosen, choose }: Props) {
  const holder = useRef<HTMLDivElement>(null)
  const { series, totals } = stack(days, sums)
  useEffect(() => {
    const at = holder.current
    if (!at || !days.length) return
    const style = getComputedStyle(document.documentElement)
    const colour = (name: string) => style.getPropertyValue(name).trim()
    const options: uPlot.Options = {
      width: at.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: false, range: [-0.6, days.length - 0.4] }, y: { range: (_, __, most) => [0, Math.max(most * 1.08, 0.01)] } },
      axes: [
        {
          stroke: colour('--dim'), grid: { show: false }, ticks: { show: false }, font: '11px sans-serif',
          values: (_, places) => places.map(place => label(days[place])),
          incrs: [1, 2, 7, 14, 30, 60, 90],
          size: 28,
        },
        { incrs: STEPS, stroke: colour('--dim'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '11px sans-serif', size: 54, values: (_, values) => values.map(value => money(value)) },
      ],
      // The tallest is drawn first, and the lower ones over it.
      series: [{}, ...series.toReversed().map(one => ({ label: one.name, fill: one.colour, stroke: one.colour, width: 0, paths: uPlot.paths.bars!({ size: [0.78, 40] }), points: { show: false } }))],
    }
    const data: uPlot.AlignedData = [days.map((_, place) => place), ...series.toReversed().map(one => one.values)]
    const chart = new uPlot(options, data, at)
    const click = () => {
      const day = days[chart.cursor.idx ?? -1]
      if (day && totals.get(day)) choose(day)
    }
    chart.over.addEventListener('click', click)
    const resized = new ResizeObserver(() => chart.setSize({ width: at.clientWidth, height: HEIGHT }))
    resized.observe(at)
    return () => {
      resized.disconnect()
      chart.destroy()
    }
  }, [days.join(), sums, theme.value])
  return (
    <figure class="chart-box">
      <div ref={holder} class="chart" role="img" aria-label={`Cost of ${days.length} days${chosen ? `, ${chosen} is chosen` : ''}. The tables below hold the numbers.`} />
      <figcaption class="chart-legend">
        {series.map(one => (
          <span key={one.name}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" rx="2.5" fill={one.colour} />
            </svg>
            {one.name || 'Not known'}
          </span>
        ))}
      </figcaption>
    </figure>
  )
}

function label(day: string | undefined): string {
  return day ? new Date(`${day}T12:00:00`).toLocaleDateString('en', { month: 'short', day: 'numeric' }) : ''
}

