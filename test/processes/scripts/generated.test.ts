// Generated files are committed as the generator writes them.
import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import { generated } from '../../../scripts/generate'
import { DOORS } from '../../support/contract'

const ROOT = path.join(__dirname, '../../..')

test('generated files are what the opcodes and controllers say; if not, run npm run generate', async () => {
  const files = await generated()
  expect([...files.keys()]).toEqual([
    'src/generated/opcode-params.ts',
    'src/generated/resource-views.ts',
    'src/generated/rapi-pages.ts',
    ...DOORS.flatMap((door) => [`src/generated/${door}-routes.ts`, `openapi/${door}.json`]),
    'docs/architecture/processes.svg',
  ])
  for (const [file, text] of files) {
    const same = readFileSync(path.join(ROOT, file), 'utf8') === text
    expect(same ? '' : file).toBe('')
  }
})
