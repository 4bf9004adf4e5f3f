'use strict'

const path = require('node:path')
const t = require('tap')
const vm = require('node:vm')
const { inspect } = require('node:util')
const { describe, print } = require('../../../lib/features/exceptions/print')

const fail = () => { throw new Error('a trap') }
/**
 * What an app may throw, and what makes trouble for those that look at it.
 *
 * @type {Record<string, { thrown: unknown, name?: string, message: string | RegExp }>}
 */
const UNUSUAL = {
  'a text': { thrown: 'a text\nof two lines', message: 'a text' },
  nothing: { thrown: undefined, message: 'undefined' },
  null: { thrown: null, message: 'null' },
  'a number': { thrown: 3, message: '3' },
  'a symbol': { thrown: Symbol('it'), message: 'Symbol(it)' },
  'a function': { thrown: function it () {}, message: '[Function: it]' },
  'a plain object': { thrown: { code: 3, of: ['a', 'b'] }, message: "{ code: 3, of: [ 'a', 'b' ] }" },
  'an object without a prototype': { thrown: Object.assign(Object.create(null), { code: 3 }), message: '[Object: null prototype] { code: 3 }' },
  'a Proxy that throws': { thrown: new Proxy({}, { get: fail, getPrototypeOf: fail, ownKeys: fail, has: fail, getOwnPropertyDescriptor: fail }), message: '{}' },
  'an object that cannot be inspected': { thrown: { [inspect.custom]: fail }, message: 'what cannot be shown' },
  'an Error whose message throws': { thrown: Object.defineProperty(new Error('it'), 'message', { get: fail }), name: 'Error', message: /^$/ },
  'an Error whose stack throws': { thrown: Object.defineProperty(new Error('it'), 'stack', { get: fail }), name: 'Error', message: 'it' },
  'an Error whose name is no text': { thrown: Object.assign(new Error('it'), { name: Object.create(null) }), name: '', message: 'it' },
  'an Error whose name is a symbol': { thrown: Object.assign(new Error('it'), { name: Symbol('it') }), name: 'Symbol(it)', message: 'it' },
  'an Error without a stack': { thrown: Object.assign(new Error('it'), { stack: undefined }), name: 'Error', message: 'it' },
  'an Error of another context': { thrown: vm.runInNewContext('new TypeError("it")'), name: 'TypeError', message: 'it' }
}

t.test('an exception is printed as Node.js prints it: the line, a caret, the stack, the version', async t => {
  const error = new Error('so it is') // the line that is printed
  const lines = print(error).split('\n')
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
  t.match(print(error), /^Error: gone\n/)
  t.match(print(Object.assign(new Error('none'), { stack: undefined })), /none/)
  const syntax = Object.assign(new SyntaxError('bad'), { stack: `/a.js:1\nvar var\n    ^^^\n\nSyntaxError: bad\n    at f (${__filename}:3:1)` })
  t.match(print(syntax), /^\/a\.js:1\nvar var\n/)
  t.equal(print('a text'), `Uncaught:\n'a text'\n\nNode.js ${process.version}\n`)
  t.equal(print(null), `Uncaught:\nnull\n\nNode.js ${process.version}\n`)
  const built = Object.assign(new Error('built'), { stack: `Error: built\n    at f (file://${__filename}:3:1)` })
  t.match(print(built), /^file:.*print\.test\.js:3\nconst path/)
})

t.test('an Error is described by its name, the first line of its message, and its stack', async t => {
  const error = new RangeError('one\ntwo')
  t.same(describe(error), { name: 'RangeError', message: 'one', stack: error.stack })
})

for (const [what, { thrown, name = 'a value', message }] of Object.entries(UNUSUAL)) {
  t.test(`whatever is thrown is described and printed: ${what}`, async t => {
    const described = describe(thrown)
    t.match(described, { name, message })
    for (const text of Object.values(described)) t.type(text, 'string')
    t.match(print(thrown), new RegExp(`\n\nNode\\.js ${process.version}\n$`))
  })
}

t.test('a description is bounded', async t => {
  const long = Object.assign(new Error('m'.repeat(1e5)), { name: 'n'.repeat(1e5), stack: 's'.repeat(1e5) })
  const lengths = ({ name, message, stack } = describe(long)) => [name, message, stack].map(text => text.length)
  t.same(lengths(), [200, 200, 2000])
  t.same(lengths(describe('x'.repeat(1e5))), [7, 200, 0])
  t.same(lengths(describe({ text: 'x'.repeat(1e5) })), [7, 200, 0])
})
