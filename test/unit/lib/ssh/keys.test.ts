// Files of keys are edited without harm to the other lines.
import {
  authorizedIn,
  formatPublicKeys,
  parsePublicKeys,
  repeatedOwners,
  withAuthorizedKeys,
  withoutAuthorizedKeys,
} from '../../../../src/lib/ssh/keys'

const ONE = 'ssh-rsa AAAAB3one= root@node1'
const TWO = 'ecdsa-sha2-nistp384 AAAAE2two= root@node2'
const FILE = `# mine\nfrom="10.0.0.0/8,ssh-rsa x",no-pty ssh-rsa AAAAB3mine= admin@desk\n\n${ONE}\n`

describe('authorized_keys', () => {
  test('a key is added once, whatever options and comments stand around it', () => {
    const text = withAuthorizedKeys(FILE, [`${TWO}\n`, 'ssh-rsa AAAAB3mine= another comment', TWO])
    expect(text).toBe(`# mine\nfrom="10.0.0.0/8,ssh-rsa x",no-pty ssh-rsa AAAAB3mine= admin@desk\n${ONE}\n${TWO}\n`)
    expect(withAuthorizedKeys(text, [ONE, TWO])).toBe(text)
  })
  test('a last line without its end is not run into', () => {
    expect(withAuthorizedKeys(ONE, [TWO])).toBe(`${ONE}\n${TWO}\n`)
  })
  test('a text that is no key is neither added nor taken for one', () => {
    expect(withAuthorizedKeys('', ['', 'hello', '# ssh-rsa AAAAB3one= x'])).toBe('')
    expect(withoutAuthorizedKeys(FILE, ['', 'hello'])).toBe(FILE.replace('\n\n', '\n'))
  })
  test('a key goes, and nothing else', () => {
    expect(withoutAuthorizedKeys(withAuthorizedKeys(FILE, [TWO]), [ONE, TWO])).toBe(
      `# mine\nfrom="10.0.0.0/8,ssh-rsa x",no-pty ssh-rsa AAAAB3mine= admin@desk\n`,
    )
  })
  test('whether a key may log in', () => {
    expect(authorizedIn(FILE)('ssh-rsa AAAAB3mine= root@elsewhere')).toBe(true)
    expect(authorizedIn(`# ${TWO}\n${FILE}`)(TWO)).toBe(false)
  })
  test('who has several', () => {
    const text = `${ONE}\n# ${ONE}\n${TWO}\nssh-rsa AAAAB3old= root@node1\n`
    expect([...repeatedOwners(text)]).toEqual([['root@node1', [1, 4]]])
  })
})

test('the list of public keys is read as it was written', () => {
  const keys = new Map([
    ['uuid-1', [ONE, 'ssh-rsa AAAAB3other= root@node1']],
    ['uuid-2', [TWO]],
  ])
  const text = `uuid-1 ${ONE}\nuuid-1 ssh-rsa AAAAB3other= root@node1\nuuid-2 ${TWO}\n`
  expect(formatPublicKeys(keys)).toBe(text)
  expect(parsePublicKeys(`${text}\nbroken\n`)).toEqual(keys)
})
