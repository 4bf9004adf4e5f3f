'use strict'

const path = require('node:path')
const t = require('tap')
const { describe } = require('../../../lib/features/exceptions/print')

t.test('an exception is printed as Node.js prints it: the line, a caret, the stack, the version', async t => {
  const error = new Error('so it is') // the line that is printed
  const lines = describe(error).split('\n')
  t.match(lines[0], new RegExp(`^${path.join(__dirname, 'print.test.js')}:\\d+$`))
  t.equal(lines[1], "  const error = new Error('so it is') // the line that is printed")
  t.match(lines[2], /^ +\^$/)
  t.equal(lines[1].slice(lines[2].length - 1, lines[2].length + 8), 'new Error')
  t.same(lines.slice(3, 5), ['', 'Error: so it is'])
  t.match(lines[5], /^ {4}at /)
  t.same(lines.slice(-3), ['', `Node.js ${process.version}`, ''])
})

t.test('what has no place, or a place that is not to be had, is printed without it', async t => {
  const error = Object.assign(new Error('gone'), { stack: 'Error: gone\n    at f (/nowhere/gone.js:1:1)' })
  t.match(describe(error), /^Error: gone\n/)
  t.match(describe(Object.assign(new Error('none'), { stack: undefined })), /none/)
  const syntax = Object.assign(new SyntaxError('bad'), { stack: `/a.js:1\nvar var\n    ^^^\n\nSyntaxError: bad\n    at f (${__filename}:3:1)` })
  t.match(describe(syntax), /^\/a\.js:1\nvar var\n/)
  t.equal(describe('a text'), `Uncaught:\n'a text'\n\nNode.js ${process.version}\n`)
  t.equal(describe(null), `Uncaught:\nnull\n\nNode.js ${process.version}\n`)
  const built = Object.assign(new Error('built'), { stack: `Error: built\n    at f (file://${__filename}:3:1)` })
  t.match(describe(built), /^file:.*print\.test\.js:3\nconst path/)
})
