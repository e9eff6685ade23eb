// The file of reservations is read as it was written, or refused.
import { readTempres } from '../../../../src/daemons/wconfd/tempres'

const client = ['7', '/run/job-7', 42]
const whole = {
  dRBD: [['node1', [[0, 'disk1']]]],
  mACs: [[client, ['aa:00:00:00:00:01']]],
  dRBDSecrets: [],
  lVs: [],
  iPv4s: [[client, [['reserve', '10.0.0.1', 'net1']]]],
}

test('reservations are read as they were saved', () => {
  expect(readTempres(JSON.stringify(whole))).toEqual(whole)
})

test.each([
  [[], 'expected an object'],
  [{ ...whole, lVs: undefined }, 'key "lVs" is missing'],
  [{ ...whole, dRBD: [['node1', [['0', 'disk1']]]] }, 'dRBD[0][1][0][0]: expected an integer'],
  [{ ...whole, iPv4s: [[client, [['keep', '', '']]]] }, 'iPv4s[0][1][0][0]: expected one of "reserve", "release"'],
])('%j is malformed', (saved, what) => {
  expect(() => readTempres(JSON.stringify(saved))).toThrow(`tempres.data is malformed: ${what}`)
})
