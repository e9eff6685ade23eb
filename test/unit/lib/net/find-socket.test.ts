// Which cluster a command finds when nobody names one.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { embedded, embeddedPointers, findLuxiSocket } from '../../../../src/lib/net/find-socket'

let home: string
beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-find-'))
})
afterEach(() => fs.rmSync(home, { recursive: true }))

function pointer(pid: number): void {
  fs.writeFileSync(path.join(home, 'embedded.json'), JSON.stringify({ socket: '/s', root: home, pid }))
}

test('the environment decides first', () => {
  pointer(process.pid)
  expect(findLuxiSocket({ GANTRY_HOME: home, GANETI_LUXI_SOCKET: '/x' })).toEqual({ path: '/x' })
  expect(findLuxiSocket({ GANTRY_HOME: home, GANETI_LUXI_SOCKET: '/s' })).toEqual({ path: '/s', nodesRoot: home })
  expect(findLuxiSocket({ GANTRY_HOME: home, FORCE_LUXI_SOCKET: '/y' })).toEqual({ path: '/y' })
  expect(findLuxiSocket({ GANTRY_HOME: home, FORCE_LUXI_SOCKET: 'master' }).path).toMatch(/ganeti-master$/)
})

test('a socket below the root of a virtual node is that of a virtual cluster, whichever of several runs', () => {
  const below = (root: string) =>
    findLuxiSocket({ GANTRY_HOME: home, GANETI_LUXI_SOCKET: `${root}/run/ganeti/socket/m` })
  expect(below('/srv/second/node1.gantry.local/var').nodesRoot).toBe('/srv/second')
  expect(below('/var').nodesRoot).toBeUndefined()
  expect(below('').nodesRoot).toBeUndefined()
})

test('then the embedded cluster, if it lives', () => {
  pointer(process.pid)
  expect(findLuxiSocket({ GANTRY_HOME: home })).toEqual({ path: '/s', nodesRoot: home })
})

test('a user who names a place means the cluster that stands there, and no other that happens to run', () => {
  pointer(process.pid)
  fs.mkdirSync(path.join(home, 'other'))
  fs.mkdirSync(path.join(home, '.gantry'))
  fs.renameSync(path.join(home, 'embedded.json'), path.join(home, '.gantry', 'embedded.json'))
  expect(embeddedPointers({ HOME: home })).toContain(path.join(home, '.gantry', 'embedded.json'))
  expect(embedded({ HOME: home, GANTRY_HOME: path.join(home, 'other') })).toBeUndefined()
})

test('no cluster at all is said clearly; a dead pointer and a broken one are none', () => {
  const env = { GANTRY_HOME: home, HOME: home }
  for (const text of ['{"socket":"/s","pid":999999999}', '{', '[]', '{"socket":5}']) {
    fs.writeFileSync(path.join(home, 'embedded.json'), text)
    // On a machine with an installed cluster, that one is found.
    if (fs.existsSync('/var/run/ganeti/socket/ganeti-query')) expect(findLuxiSocket(env).path).not.toBe('/s')
    else expect(() => findLuxiSocket(env)).toThrow(/no cluster runs in .* start it with npm start/)
  }
})

test('a note for the user that lies in a root is not that of the cluster there', () => {
  fs.mkdirSync(path.join(home, '.gantry'))
  fs.writeFileSync(
    path.join(home, '.gantry', 'embedded.json'),
    JSON.stringify({ socket: '/s', root: '/other', pid: process.pid }),
  )
  expect(embedded({ HOME: home, GANTRY_HOME: path.join(home, '.gantry') })).toBeUndefined()
})

test('a root may be named by a link to it', () => {
  pointer(process.pid)
  const link = path.join(home, 'link')
  fs.symlinkSync(home, link)
  expect(embedded({ GANTRY_HOME: link })).toEqual({ path: '/s', nodesRoot: home })
})
