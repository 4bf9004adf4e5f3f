'use strict'

const { execFileSync } = require('node:child_process')
const path = require('node:path')
const { Command } = require('commander')
const fc = require('fast-check')
const t = require('tap')
const { readCall } = require('../../lib/cli/read-call')
const { addRun, withoutDefaults } = require('../../lib/cli/run')
const { OPTIONS } = require('../../lib/tables/options')

/** @param {string[]} words @returns {any} null: commander refuses them, or it is no app that is called */
function byCommander (words) {
  const program = new Command('recycle').version('1').enablePositionalOptions().exitOverride().configureOutput({ writeErr () {}, writeOut () {} })
  addRun(program)
  /** @type {any} */
  let call = null
  program.action((app, args, given) => { call = { app, args, given: withoutDefaults(given) } })
  for (const name of ['status', 'reload', 'help']) program.command(`${name} [name]`).action(() => {})
  try {
    program.parse(['node', 'recycle', ...words])
  } catch {}
  return call
}

t.test('what is read without commander is read as commander does', async t => {
  const flags = ['--config <file>', '--print-config', ...OPTIONS.flatMap(({ flag, short }) => short ? [flag, `${short} <n>`] : [flag])].map(flag => flag.split(' '))
  const value = fc.oneof(fc.constantFrom('1', '', '-1', '--', '--plain', 'a=b', 'status', './x'), fc.string())
  const word = fc.oneof(
    fc.constantFrom(...flags).chain(([flag, takes]) => value.map(value => takes ? [flag, value] : [flag])),
    fc.constantFrom(...flags).chain(([flag]) => value.map(value => [`${flag}=${value}`])),
    fc.constantFrom(...flags).map(([flag]) => [flag]),
    fc.constantFrom('app.js', './start', '-h', '--help', '-w4', '--', '-V', 'reload', 'app', '--unknown', '').map(word => [word]),
    fc.string().map(word => [word])
  )
  let read = 0
  const compare = (/** @type {string[]} */ words) => {
    const call = readCall(words)
    if (call === null) return
    read++
    t.strictSame(call, byCommander(words), words.join(' '))
  }
  fc.assert(fc.property(fc.array(word, { maxLength: 5 }), fc.constantFrom('app.js', './a', 'b.mjs'), fc.array(value, { maxLength: 2 }), (words, app, args) => {
    compare([...words.flat(), app, ...args])
  }), { numRuns: 500 })
  t.ok(read > 50, `${read} of 500`)
})

t.test('of each kind of option one is', t => {
  for (const [words, given] of /** @type {const} */ ([
    [[], {}], [['-w', '4'], { workers: '4' }], [['--max-rss=1g', '--plain'], { maxRss: '1g', plain: true }], [['--no-handoff'], { handoff: false }],
    [['--node-option', '--a', '--node-option=--b'], { nodeOption: ['--a', '--b'] }], [['--print-config', '--config', 'none'], { printConfig: true, config: 'none' }]
  ])) t.strictSame(readCall([...words, 'app.js', '-w', '5']), { app: 'app.js', args: ['-w', '5'], given })
  for (const words of [[], ['status'], ['start', 'app.js'], ['--help', 'app.js'], ['-w', '4'], ['-w'], ['--plain=1', 'app.js'], ['-w=4', 'app.js'], ['--', 'app.js'], ['--relaod', 'app.js']]) {
    t.equal(readCall(words), null, words.join(' '))
  }
  t.end()
})

t.test('a fleet loads no commander', async t => {
  const program = `process.argv = [process.execPath, 'recycle', '--print-config', 'app.js']
    require(${JSON.stringify(path.join(__dirname, '..', '..', 'lib', 'cli', 'program'))}).main(process.argv).then(() => console.log(Object.keys(require.cache).filter(file => /commander/.test(file)).length))`
  t.match(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }), /\n0\n$/)
})
