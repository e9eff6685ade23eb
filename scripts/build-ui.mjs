// Builds the console of ui/ into ui/dist when its sources have changed, and compresses what browsers load.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const ui = join(root, 'ui')
const dist = join(ui, 'dist')
const stamp = join(dist, 'made-from')

const state = madeFrom()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== state) {
  // Vite takes a while to load, so it is loaded only when it is needed.
  const { build } = await import('vite')
  await build({ configFile: join(ui, 'vite.config.mjs'), logLevel: 'warn' })
  await compress(join(dist, 'assets'))
  // Written last, so that an interrupted build is repeated.
  writeFileSync(stamp, state)
}

/** A text that changes when the files of dist/ would change. */
function madeFrom() {
  const digest = createHash('sha256')
  for (const file of [
    join(root, 'package-lock.json'),
    join(root, 'openapi/rapi.json'),
    fileURLToPath(import.meta.url),
    ...sources(),
  ])
    digest.update(`${file}\n`).update(readFileSync(file))
  return digest.digest('hex')
}

function sources() {
  const entries = readdirSync(ui, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(dist))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

async function compress(folder) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  const texts = readdirSync(folder).filter((name) => /\.(js|css|svg)$/.test(name))
  await Promise.all(
    texts.map(async (name) => {
      const file = join(folder, name)
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(readFileSync(file), { params }))
    }),
  )
}
