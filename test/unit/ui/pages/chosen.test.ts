// An action on many instances concerns those that are still there, in the order in which they were chosen.
import { consoleModule } from '../../../support/console-actions'

type Ask = (filter: string | undefined) => Promise<readonly string[]>
const { stillThere } = consoleModule<{ stillThere(chosen: readonly string[], ask: Ask): Promise<string[]> }>(
  'pages/instances/chosen.ts',
)

const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `vm${at}`)

async function remaining(chosen: readonly string[], gone: readonly string[]) {
  const filters: (string | undefined)[] = []
  const names = await stillThere(chosen, async (filter) => {
    filters.push(filter)
    return ['other', ...chosen.filter((name) => !gone.includes(name))].toReversed()
  })
  return { names, filters }
}

test('only the chosen ones are looked for, and those that are gone are left out', async () => {
  expect(await remaining(['vm2', 'vm0', 'vm1'], ['vm0'])).toEqual({
    names: ['vm2', 'vm1'],
    filters: ['["&",["!=","name",""],["|",["==","name","vm2"],["==","name","vm0"],["==","name","vm1"]]]'],
  })
})

test('thousands are no filter, which would be too long for an address', async () => {
  const { names, filters } = await remaining(namesOf(3000), ['vm7', 'vm2999'])
  expect([names.length, filters]).toEqual([2998, [undefined]])
})
