// Images of CDs, read back by an independent reader.
import { iso9660 } from '../../../../src/lib/file/iso9660'
import { filesOfIso } from '../../../support/iso-files'

const files = { 'user-data': '#cloud-config\n{}\n', 'meta-data': 'x'.repeat(5000), empty: '', 'network-config': '{}\n' }

test('the files are found again, by their own names, under the label of the volume', () => {
  expect(filesOfIso(iso9660('cidata', files))).toEqual({ label: 'cidata', files })
})

test('the same files give the same bytes, in whole sectors', () => {
  const image = iso9660('cidata', files)
  expect(iso9660('cidata', Object.fromEntries(Object.entries(files).reverse()))).toEqual(image)
  expect(image.length % 2048).toBe(0)
})

test('more files than one sector names are refused', () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`file-${index}`, '']))
  expect(() => iso9660('cidata', many)).toThrow('The names of 40 files do not fit into one sector')
})
