import { readFileSync } from 'node:fs'
import * as path from 'node:path'
import { generated } from '../../../scripts/generate'

const ROOT = path.join(__dirname, '../../..')

test('generated files are what the opcodes and controllers say; if not, run npm run generate', async () => {
  const files = await generated()
  expect([...files.keys()]).toEqual([
    'src/generated/opcode-params.ts',
    'src/generated/resource-views.ts',
    'src/generated/routes.ts',
    'openapi/rapi.json',
  ])
  for (const [file, text] of files) {
    const same = readFileSync(path.join(ROOT, file), 'utf8') === text
    expect(same ? '' : file).toBe('')
  }
}, 60_000)
