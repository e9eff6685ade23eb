// How the memory of nodes is counted when the cluster is read.
import { Col, buildModel } from '../../../../src/allocation/model/cluster-model'
import { parseClusterText } from '../../../../src/allocation/sources/text-format'

/** A pair of nodes; the second keeps 1,024 MiB for the instance of the first, and has an instance of 2,048 MiB itself. */
const fails = (memory: number, reportedFree: number): number | undefined => {
  const node = (name: string, total: number, free: number) => `${name}|${total}|0|${free}|409600|204800|16|N|u|1|`
  const instance = (name: string, size: number, primary: string, secondary: string) =>
    `${name}|${size}|1024|1|running|Y|${primary}|${secondary}|drbd||1`
  const text = `g|u|preferred||\n\n${node('n1', 16384, 15360)}\n${node('n2', memory, reportedFree)}\n
${instance('i1', 1024, 'n1', 'n2')}\n${instance('i2', 2048, 'n2', 'n1')}\n\n`
  return buildModel(parseClusterText(text)).rows[Col.Width + Col.FailsN1]
}

test('a node that has exactly the memory that it keeps for others is not called failing when it is read', () => {
  expect(fails(3073, 1025)).toBe(0)
  expect(fails(3072, 1024)).toBe(0)
  expect(fails(3071, 1023)).toBe(1)
})

test('memory that instances leave counts, where a node reports more because they do not use all of theirs', () => {
  expect(fails(3071, 3000)).toBe(1)
  expect(fails(3072, 3000)).toBe(0)
  expect(fails(4096, 1000)).toBe(1)
})
