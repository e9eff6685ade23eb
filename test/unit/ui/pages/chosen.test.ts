// An action on many instances concerns those that are still there, in the order in which they were chosen.
import { consoleModule } from '../../../support/console-actions'

type Ask = (filter: string | undefined) => Promise<readonly string[]>
interface Choice {
  stillThere(chosen: readonly string[], ask: Ask): Promise<string[]>
  notShown(chosen: ReadonlySet<string>, rows: readonly { name: string }[]): string[]
  withoutGone(chosen: ReadonlySet<string>, sought: readonly string[], found: readonly string[]): ReadonlySet<string>
}
const { stillThere, notShown, withoutGone } = consoleModule<Choice>('pages/instances/chosen.ts')

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

test('those that were removed leave the choice, and those that another filter hides stay in it', () => {
  const chosen = new Set(['shown', 'hidden', 'gone'])
  const sought = notShown(chosen, [{ name: 'shown' }, { name: 'other' }])
  expect(sought).toEqual(['hidden', 'gone'])
  expect([...withoutGone(chosen, sought, ['hidden'])]).toEqual(['shown', 'hidden'])
  // The same set: nothing is drawn again.
  expect(withoutGone(chosen, sought, sought)).toBe(chosen)
})
