// gnt-cluster verify, verify-disks and repair-disk-sizes.
import { pythonText } from '../../lib/text/python-text'
import { OpClusterRepairDiskSizes, OpClusterVerify, OpClusterVerifyDisks } from '../../opcodes/cluster'
import { OpInstanceActivateDisks } from '../../opcodes/instance'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { opcodeOf } from '../submit/submit'

/** The first job submits one for the configuration and one for each group. */
export async function verifyCluster(call: Call): Promise<number> {
  const { options, jobs } = call
  const skip_checks = [
    ...(options.flag('skip_nplusone_mem') ? ['nplusone_mem'] : []),
    ...(options.flag('skip_hvparam_assessment') ? ['hvparam_assessment'] : []),
  ]
  const result = await jobs.run(
    opcodeOf(OpClusterVerify, {
      ...options.parametersOf(OpClusterVerify),
      verbose: options.flag('verbose'),
      ignore_errors: options.list('ignore_errors'),
      group_name: options.text('nodegroup'),
      skip_checks,
    }),
  )
  const outcomes = await jobs.followSubmitted(jobsOf(result))
  const clean = outcomes.every((outcome) => outcome.ok && Array.isArray(outcome.result) && outcome.result[0] === true)
  return clean ? EXIT.ok : EXIT.failure
}

export async function verifyDisks(call: Call): Promise<number> {
  const { options, jobs, terminal } = call
  const result = await jobs.run(
    opcodeOf(OpClusterVerifyDisks, { group_name: options.text('nodegroup'), is_strict: !options.flag('no_strict') }),
  )
  const outcomes = await jobs.followSubmitted(jobsOf(result))
  let good = true
  for (const { ok, result: answer } of outcomes) {
    if (!ok) good = false
    else good = (await repairDisks(call, Array.isArray(answer) ? (answer[0] as unknown) : null)) && good
  }
  if (!good) terminal.err('Not all disks could be checked or activated.')
  return good ? EXIT.ok : EXIT.failure
}

/** Acts on a group's answer: `[bad nodes, instances to activate, missing disks]`. */
async function repairDisks({ jobs, terminal }: Call, answer: unknown): Promise<boolean> {
  const [badNodes, instances, missing] = Array.isArray(answer) ? (answer as unknown[]) : []
  const bad = Object.entries(typeof badNodes === 'object' && badNodes !== null ? badNodes : {})
  for (const [node, text] of bad) terminal.out(`Error gathering data on node ${node}: ${pythonText(text)}`)
  if (bad.length > 0) terminal.out('You need to fix these nodes first before fixing instances')
  const names = Array.isArray(instances) ? instances.map(String) : []
  const lost = Object.entries(typeof missing === 'object' && missing !== null ? missing : {})
  if (bad.length + names.length + lost.length === 0) terminal.out('No disks need to be activated.')
  let good = bad.length === 0
  // Disks without all of their volumes cannot be activated.
  for (const name of names.filter((one) => lost.every(([other]) => other !== one))) {
    terminal.out(`Activating disks for instance '${name}'`)
    const [outcome] = await jobs.runMany([{ ops: [opcodeOf(OpInstanceActivateDisks, { instance_name: name })] }], false)
    good = outcome?.ok === true && good
  }
  for (const [name, volumes] of lost) tellMissing(terminal, name, placesOf(volumes), new Set(bad.map(([node]) => node)))
  if (lost.length > 0)
    terminal.out(
      'You need to replace or recreate disks for all the above instances if this message persists after fixing broken nodes.',
    )
  return good && lost.length === 0
}

function tellMissing(
  terminal: Call['terminal'],
  instance: string,
  places: readonly (readonly [node: string, volume: string])[],
  broken: ReadonlySet<string>,
): void {
  if (places.every(([node]) => broken.has(node)))
    return terminal.out(`Instance ${instance} cannot be verified as it lives on broken nodes`)
  terminal.out(`Instance ${instance} has missing logical volumes:`)
  for (const [node, volume] of places) terminal.out(`\t${broken.has(node) ? 'broken node ' : ''}${node} /dev/${volume}`)
}

const placesOf = (volumes: unknown): [node: string, volume: string][] =>
  (Array.isArray(volumes) ? (volumes as unknown[]) : []).map((place) => {
    const [node, volume] = Array.isArray(place) ? (place as unknown[]) : []
    return [pythonText(node), pythonText(volume)]
  })

export async function repairDiskSizes(call: Call): Promise<number> {
  const changes = await call.jobs.run(opcodeOf(OpClusterRepairDiskSizes, { instances: call.args }))
  for (const change of Array.isArray(changes) ? (changes as unknown[]) : []) {
    const [instance, disk, what, size] = Array.isArray(change) ? (change as unknown[]) : []
    call.terminal.out(
      `${pythonText(instance)} disk/${pythonText(disk)}: ${pythonText(what)} is now ${pythonText(size)}`,
    )
  }
  return EXIT.ok
}

const jobsOf = (result: unknown): unknown =>
  typeof result === 'object' && result !== null && 'jobs' in result ? result.jobs : []
