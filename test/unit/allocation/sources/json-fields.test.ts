// Requests to allocators are refused in Ganeti's words.
import { JsonFields } from '../../../../src/allocation/sources/json-fields'

const fields = JsonFields.of('node', { name: 1, tags: ['a', 2], sizes: [1, '2'], nics: [7], params: [], ok: 'x' })

test.each<[string, () => unknown, string]>([
  ['a missing key', () => fields.string('uuid'), `key 'uuid' not found, object contains only ["name","tags","sizes","nics","params","ok"]`], // prettier-ignore
  ['a number for a text', () => fields.string('name'), "key 'name': Unable to read String"],
  ['a number among texts', () => fields.strings('tags'), "key 'tags': Unable to read String"],
  ['a text among numbers', () => fields.numbers('sizes'), "key 'sizes': Unable to read Int"],
  ['a text for a list', () => fields.list('ok'), "key 'ok': Unable to read List"],
  ['a text for a truth', () => fields.boolean('ok'), "key 'ok': Unable to read Bool"],
  ['a list for an object', () => fields.object('params', 'params'), "key 'params': Unable to read JSObject"],
  ['a number among objects', () => fields.objects('nics'), 'Unable to read JSObject'],
])("%s is refused in the words of Ganeti's programs", (_what, read, words) => {
  expect(read).toThrow(`node: ${words}`)
})

test('values are read as they are', () => {
  const read = JsonFields.parse('cluster', '{"a": 1.5, "b": ["x"], "c": {"d": true}}', 'cluster')
  expect([read.number('a'), read.strings('b'), read.object('c', 'c').boolean('d')]).toEqual([1.5, ['x'], true])
})
