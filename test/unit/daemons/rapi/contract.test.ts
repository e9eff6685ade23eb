// Checks the parts of the OpenAPI document that people read: examples and descriptions.
import { complaintsOfExamples, operations, undescribed } from '../../../support/contract'

test('every example is what its schema allows', () => {
  const complaints = complaintsOfExamples()
  expect(complaints.map(([where]) => where)).toEqual(
    expect.arrayContaining(['JobRequest', 'PlanOfJob', 'TokenRequest', 'Job', 'Plan', 'POST /2/instances']),
  )
  expect(complaints.filter(([, complaint]) => complaint !== undefined)).toEqual([])
})

test('every body has an example, and every parameter a description', () => expect(undescribed()).toEqual([]))

test('the figures for Prometheus are in the document', () =>
  expect(operations.map(({ verb, url }) => `${verb} ${url}`)).toContain('GET /metrics'))
