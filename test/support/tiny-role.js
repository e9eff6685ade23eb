// A daemon that only notes its start and its end in the file NOTES. On SIGUSR2 it sends its parent the content of NOTES.ask.
'use strict'
const fs = require('node:fs')

const name = process.argv[2]
const note = (text) => fs.appendFileSync(process.env.NOTES, `${text} ${name}\n`)
if (fs.existsSync(`${process.env.NOTES}.refuse-${name}`)) {
  note('refuse')
  process.exit(1)
}
note('start')
process.on('SIGTERM', () => {
  note('stop')
  process.exit(0)
})
process.on('SIGUSR2', () => process.send({ id: 1, ...JSON.parse(fs.readFileSync(`${process.env.NOTES}.ask`, 'utf8')) }))
process.on('message', ({ result, error }) => note(`answer ${JSON.stringify(result ?? error)} to`))
process.send({ ready: true })
