// The score of each group, and the score after a balance. The balance is calculated when the card becomes visible.
import { useInViewport } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useRefusal } from '../../api/session'
import { AskAgain, Asked } from '../../parts/stale-notice'
import { Card, Facts, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { QUESTION_PERMISSION, questionQuery, USUAL_BALANCE } from '../../parts/question'
import { balanceQuestion } from '../../parts/question-request'
import { texts } from '../../texts'

const own = texts.overview.balance
const QUESTION = balanceQuestion(USUAL_BALANCE)
const PERMISSION = QUESTION_PERMISSION['/3/balance']

export function BalanceCard() {
  const refusal = useRefusal()(PERMISSION)
  const allowed = refusal === undefined
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const [observed, setSeen] = useState(false)
  useEffect(() => {
    if (inViewport) setSeen(true)
  }, [inViewport])
  const { data, error, isFetching, refetch } = useQuery({
    ...questionQuery('/3/balance', USUAL_BALANCE),
    enabled: allowed && observed,
  })
  return (
    <Card
      title={own.title}
      aside={<AskAgain requests={[QUESTION]} disabled={!allowed} busy={isFetching} ask={() => void refetch()} />}
    >
      <div ref={ref}>
        <ProblemBox error={error} />
        {refusal !== undefined && <Nothing text={texts.overview.notShown(refusal)} />}
        {allowed && data === undefined && error === null && <Nothing text={texts.table.loading} />}
        {data !== undefined && (
          <Facts
            facts={data.groups.map(({ group, score_before: before, score_after: after }) => {
              const moves = data.steps.filter((step) => step.group === group).length
              const better = moves === 0 ? own.even : own.better(moves, after.toFixed(4))
              return [group, `${own.score} ${before.toFixed(4)}. ${better}`]
            })}
          />
        )}
        {data !== undefined && data.steps.length > 0 && (
          <div className="finding">
            <Link to="/topology" search={{ mode: 'balance' }}>
              {own.show}
            </Link>
          </div>
        )}
        <Asked answer={data} />
      </div>
    </Card>
  )
}
