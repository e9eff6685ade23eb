// The log of an opcode. Its end stays in view while more comes, unless somebody has scrolled up to read.
import { Fragment, useLayoutEffect, useRef } from 'react'
import { type Job, lineText } from '../../parts/job'
import { Clock } from '../../parts/time'

type Line = NonNullable<Job['ops'][number]['log']>[number]

/** So near to the end is at the end. */
const END_PX = 24

export function LogText({ label, lines, grows }: { label: string; lines: readonly Line[]; grows: boolean }) {
  const ref = useRef<HTMLPreElement>(null)
  const atEnd = useRef(grows)
  const count = lines.length
  useLayoutEffect(() => {
    const { current: text } = ref
    if (text !== null && atEnd.current) text.scrollTop = text.scrollHeight
  }, [count])
  return (
    <pre
      ref={ref}
      className="log mono"
      tabIndex={0}
      aria-label={label}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < END_PX
      }}
    >
      {lines.map(({ time, message }, at) => (
        <Fragment key={at}>
          {at > 0 && '\n'}
          <Clock time={time} />
          {`  ${lineText(message)}`}
        </Fragment>
      ))}
    </pre>
  )
}
