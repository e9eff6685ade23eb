// Questions to the allocation that run in a thread because they take long. Plain data in and out; the same input gives
// the same output.
import type { Capacity, WhatIf } from '../../model/allocation'
import type { AllocOptions } from '../model/options'
import { type BalanceAnswer, type BalanceQuestion, planBalanceSteps } from './balance-plan'
import { type CapacityQuestion, capacityByGroup } from './capacity'
import type { ClusterData } from '../model/cluster-data'
import { buildModel } from '../model/cluster-model'
import { type WhatIfQuestion, whatIf } from './what-if'

export type Question = BalanceQuestion | CapacityQuestion | WhatIfQuestion

/** The answer to each kind of question. */
export interface Answers {
  readonly balance: BalanceAnswer
  readonly capacity: Capacity
  readonly 'what-if': WhatIf
}

export function answerQuestion(data: ClusterData, question: Question, options: AllocOptions): Answers[keyof Answers] {
  switch (question.kind) {
    case 'balance':
      return planBalanceSteps(buildModel(data), question, options.ignoreSoftErrors)
    case 'capacity':
      return capacityByGroup(data, question, options)
    case 'what-if':
      return whatIf(data, question, options)
  }
}
