// A thread of maintd that plans rounds, one after the other.
import { fromParts } from './allocation/questions/question-parts'
import { serveTasks } from './lib/work/worker-pool'
import { planRound, type RoundQuestion } from './maintenance/plan-round'

serveTasks((parts) => {
  const { data, question, options } = fromParts<RoundQuestion>(parts)
  return planRound(data, question, options)
})
