import { newJob } from '../../../src/jobs/job'
import { jobView, markedView } from '../../../src/services/job-views'

test('whoever asks for a job does not see its private parameters', () => {
  const op = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm1', osparams_private: { password: 'P' }, reason: [] }
  const job = newJob(1, [op], [0, 0])
  for (const view of [jobView(job, false), markedView(job, false)])
    expect(view.ops[0]?.input).toMatchObject({ instance_name: 'vm1', osparams_private: { password: null } })
  expect(job.ops[0]?.input).toMatchObject({ osparams_private: { password: 'P' } })
})
