// The balance as a list of moves with the score before and after, and its job.
import { Group, NumberInput, Stack, Switch, Text } from '@mantine/core'
import type { UseMutationResult } from '@tanstack/react-query'
import { useState } from 'react'
import type { components } from '../../api/schema'
import { useRefusal } from '../../api/session'
import { sizeText } from '../../format/size'
import { CopyAs } from '../../parts/copy-as'
import { isOver, type Job } from '../../parts/job'
import type { Request } from '../../parts/request'
import { ProblemBox } from '../../parts/problem-box'
import { gntText } from '../../parts/gnt'
import { balanceFlags, balanceQuestion } from '../../parts/question-request'
import { QUESTION_PERMISSION, USUAL_BALANCE } from '../../parts/question'
import { RefusableButton } from '../../parts/disable-with-reason'
import { Status } from '../../parts/status'
import { useSubmit } from '../../parts/submit'
import { texts } from '../../texts'
import { JobLink } from '../jobs/job-page'
import { InstanceLink, Moves } from './moves-table'

type Asked = components['schemas']['BalanceRequest']
type BalancePlan = components['schemas']['BalancePlan']

export interface PlannedBalance {
  readonly asked: Asked
  readonly plan: BalancePlan
}

export type Balance = UseMutationResult<PlannedBalance, Error, Asked>

const own = texts.topology.balance
const MOVES = USUAL_BALANCE.max_moves

interface PanelProps {
  readonly balance: Balance
  /** Undefined if there is no plan, or if it was carried out. */
  readonly planned: PlannedBalance | undefined
  readonly run: BalanceRun | undefined
  /** Notes the job that carries out a plan. */
  readonly begin: (plan: BalancePlan, job: number) => void
}

/** A plan that was carried out, with its job. */
export interface BalanceRun {
  readonly plan: BalancePlan
  readonly job: number
  readonly state: Job | undefined
}

/** Whether this plan, or one that is not known any more, was carried out. */
export const isCarriedOut = (plan: Pick<BalancePlan, 'plan'> | undefined, run: BalanceRun | undefined): boolean =>
  run?.state?.status === 'success' && (plan === undefined || plan.plan === run.plan.plan)

export function BalancePanel({ balance, planned, run, begin }: PanelProps) {
  const refusal = useRefusal()(QUESTION_PERMISSION['/3/balance'])
  const [most, setMost] = useState<number | string>(MOVES)
  const [disks, setDisks] = useState(true)
  const [primaries, setPrimaries] = useState(true)
  const requested = { max_moves: Math.max(1, Number(most) || MOVES), disk_moves: disks, instance_moves: primaries }
  return (
    <Stack gap="sm">
      <Text size="sm">{own.text}</Text>
      <NumberInput label={own.max} value={most} min={1} allowDecimal={false} onChange={setMost} />
      <Switch label={own.disks} checked={disks} onChange={(event) => setDisks(event.currentTarget.checked)} />
      <Switch
        label={own.primaries}
        checked={primaries}
        onChange={(event) => setPrimaries(event.currentTarget.checked)}
      />
      <Group>
        <RefusableButton
          variant={planned === undefined ? 'filled' : 'default'}
          whyNot={refusal}
          loading={balance.isPending}
          onClick={() => balance.mutate(requested)}
        >
          {planned === undefined ? own.ask : own.again}
        </RefusableButton>
        <Group gap={0}>
          <CopyAs request={balanceQuestion(requested)} />
        </Group>
      </Group>
      <ProblemBox error={balance.error} />
      {planned !== undefined && <Planned key={planned.plan.plan} {...planned} run={run} begin={begin} />}
      {planned === undefined && run !== undefined && <Balanced run={run} />}
    </Stack>
  )
}

export const scoreText = (score: number): string => score.toFixed(4)

/** The result, when the job has ended well. */
const Balanced = ({ run: { plan, job } }: { run: BalanceRun }) => (
  <section className="plan" aria-label={own.ask} aria-live="polite">
    {plan.groups.map(({ group, score_before: before, score_after: after }) => (
      <Status key={group} tone="good" text={own.balanced(group, scoreText(before), scoreText(after))} />
    ))}
    <JobLink id={job} />
  </section>
)

type RunProps = Pick<PanelProps, 'run' | 'begin'>

function Planned({ asked: requested, plan, run, begin }: PlannedBalance & RunProps) {
  const head = [texts.topology.whatIf.instance, own.what, texts.topology.whatIf.to]
  return (
    <section className="plan" aria-label={own.ask} aria-live="polite">
      {plan.groups.map(({ group, score_before: before, score_after: after }) => (
        <div key={group}>
          <b>{group}</b> {own.score(scoreText(before), scoreText(after))}
        </div>
      ))}
      <span className="dim">{own.scoreText}</span>
      {plan.left_out !== null && <Text size="xs">{plan.left_out}</Text>}
      {plan.steps.length === 0 ? (
        <Status tone="good" text={own.even} />
      ) : (
        <>
          <Run asked={requested} plan={plan} run={run?.plan.plan === plan.plan ? run : undefined} begin={begin} />
          <Moves
            {...{ title: own.list, head, rows: plan.steps }}
            cells={({ instance, kind, from, to, copied_mib: copied }) => [
              <InstanceLink key="name" name={instance} />,
              own.kinds[kind] ?? kind,
              `${from.join(', ')} → ${to.join(', ')}${copied > 0 ? ` (${own.copies(sizeText(copied))})` : ''}`,
            ]}
          />
          {plan.more && <Text size="xs">{own.more}</Text>}
        </>
      )}
    </section>
  )
}

const PERMISSIONS: Readonly<Record<string, string>> = {
  OP_INSTANCE_MIGRATE: 'instances.migrate',
  OP_INSTANCE_FAILOVER: 'instances.failover',
  OP_INSTANCE_REPLACE_DISKS: 'instances.replace_disks',
  OP_INSTANCE_MOVE: 'instances.move',
}

/** Carries out exactly the shown plan: the job is refused if anything has changed. */
function Run({ asked: requested, plan: whole, run, begin }: PlannedBalance & RunProps) {
  const { ops, plan, steps } = whole
  const refusal = useRefusal()
  const permissions = ops.flatMap(({ OP_ID }) => PERMISSIONS[OP_ID] ?? [])
  const whyNot = permissions.map((permission) => refusal(permission)).find((why) => why !== undefined)
  const request: Request = {
    ...{ method: 'POST', path: '/3/jobs', body: { ops, plan } },
    gnt: gntText('allocation balance -X', balanceFlags(requested), []),
  }
  const submit = useSubmit(request, { label: own.job(steps.length), done: (job) => begin(whole, job) })
  return (
    <>
      {run !== undefined ? (
        <Group gap="sm">
          {run.state === undefined || !isOver(run.state) ? (
            <Status tone="busy" text={own.begun} />
          ) : (
            <Status tone="bad" text={own.failed} />
          )}
          <JobLink id={run.job} />
        </Group>
      ) : (
        <Group gap={4}>
          <RefusableButton whyNot={whyNot} loading={submit.isPending} onClick={() => submit.mutate()}>
            {own.run(steps.length)}
          </RefusableButton>
          <CopyAs request={request} />
        </Group>
      )}
      <ProblemBox error={submit.error} />
    </>
  )
}
