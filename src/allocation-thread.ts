// A thread of luxid that answers questions to the allocation, one after the other.
import { fromParts } from './allocation/questions/question-parts'
import { answerQuestion } from './allocation/questions/questions'
import { serveTasks } from './lib/work/worker-pool'

serveTasks((parts) => {
  const { data, question, options } = fromParts(parts)
  return answerQuestion(data, question, options)
})
