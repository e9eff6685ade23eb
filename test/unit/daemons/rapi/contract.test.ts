// Checks the parts of the OpenAPI documents that people read: examples and descriptions.
import { Contract, DOORS } from '../../../support/contract'

describe.each(DOORS)('in the document of %s', (door) => {
  const contract = new Contract(door)

  test('every example is what its schema allows', () => {
    expect(contract.complaintsOfExamples().filter(([, complaint]) => complaint !== undefined)).toEqual([])
  })

  test('every body and every part of an address has an example, and every parameter a description', () =>
    expect(contract.undescribed()).toEqual([]))
})

const rapi = new Contract('rapi')

test('examples of what the remote API is used for are checked', () =>
  expect(rapi.complaintsOfExamples().map(([where]) => where)).toEqual(
    expect.arrayContaining([
      'InstanceView',
      'NodeView',
      'JobRequest',
      'PlanOfJob',
      'TokenRequest',
      'Job',
      'Plan',
      'POST /2/instances',
    ]),
  ))

test('the figures for Prometheus are in the document', () =>
  expect(rapi.operations.map(({ verb, url }) => `${verb} ${url}`)).toContain('GET /metrics'))
