'use strict'

/** Every command in the documentation is valid: its subcommand, flags and values are known, its script exists. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { scripts } = require('../../package.json')
const { COMMANDS } = require('../../lib/cli/help')
const { SYNONYMS } = require('../../lib/cli/habits')
const { OPTIONS } = require('../../lib/tables/options')
const { DRILL_OPTIONS } = require('../../lib/tools/drill/options')
const { call } = require('../support/calls')
const { ROOT, pages, fences, inlineCode } = require('../support/docs')

const SHELL = /^(?:sh|console|ini)$/
const PLACEHOLDER = /^<|…|^\[/
const PASSES_ON = ['', 'drill'] // arguments after the app belong to the app
/** Flags of other programs. */
const FOREIGN = [
  '--unhandled-rejections', '--max-old-space-size', '--initial-old-space-size', '--min-semi-space-size', '--max-semi-space-size', '--noconcurrent_sweeping', '--no-memory-reducer',
  '--external-memory-accounted-in-global-limit', '--max-heap-size', '--semi-space-growth-factor', '--gc-interval', '--scavenger-max-new-space-capacity-mb',
  // V8, Node.js
  '--nouse-idle-notification', '--require', '--watch', '--import', '--inspect', '--inspect-brk', '--single-threaded', '--v8-pool-size',
  '--env-file', '--permission', '--experimental-permission', '--allow-addons', '--allow-fs-write', // Node.js
  // pm2, gunicorn
  '--max-memory-restart', '--instances', '--max-requests-jitter', '--graceful-timeout', '--preload', '--keep-alive', '--bind',
  '--refork-after', '--minUptime', '--spinSleepTime', '--pack', // pitchfork, forever, arethetypeswrong
  '--init', '--read-only', '--tmpfs', '--add-architecture', // docker
  // test/matrix.js, the benches, an app, the campaign
  '--node', '--arch', '--quick', '--million', '--its', '--own', '--seconds', '--calm', '--seed', '--add', '--kills', '--primaries', '--moves', '--leaks', '--deploys', '--mold', '--rounds',
  '--update-env', // pm2
  // examples/sprites, examples/capacity
  '--grace', '--only', '--heap', '--descriptors', '--pings', '--storm', '--buffer'
]
const CHECKED = new Map([...OPTIONS, ...DRILL_OPTIONS].map(({ flag, kind }) => [flag.split(' ')[0], kind]))

/** @typedef {{ takesValue: boolean }} Flag @typedef {{ page: string, text: string }} Example */

/** The flags in the help of each command, which the first test reads. @type {Map<string, Map<string, Flag>>} */
const commands = new Map()

const examples = pages().flatMap(({ name, text }) => [
  ...fences(text, SHELL).flatMap(code => code.split('\n').flatMap(simpleCommands)),
  ...inlineCode(text).flatMap(simpleCommands)
].map(words => ({ page: name, words })))

t.test('the help is parsed', async t => {
  commands.set('', flagsIn(await helpOf('options')))
  for (const name of [...COMMANDS.flatMap(([names]) => names), 'help']) commands.set(name, flagsIn(await helpOf(name)))
  // Those of recycle itself, which its help leaves out
  commands.set('unit', new Map([...commands.get('') ?? [], ...commands.get('unit') ?? []]))
  t.ok(commands.size >= 13)
  t.match(commands.get(''), new Map([['--max-rss', { takesValue: true }], ['-m', { takesValue: true }], ['--prefix', { takesValue: false }]]))
  t.ok(commands.get('report')?.has('--json'))
})

t.test('commands are found in the text around them', async t => {
  t.same(simpleCommands("$ FOO=1 recycle -m 1G 'a b.js' > file # comment"), [['recycle', '-m', '1G', 'a b.js']])
  t.same(simpleCommands('npm ci && recycle ls | jq .'), [['npm', 'ci'], ['recycle', 'ls'], ['jq', '.']])
})

t.test('each `recycle …` is a known command', async t => {
  const ours = examples.filter(({ words }) => words[0] === 'recycle')
  t.ok(ours.length > 100)
  for (const { page, words } of ours) t.equal(flawIn(words.slice(1)), null, `${page}: ${words.join(' ')}`)
})

t.test('each flag in the prose belongs to recycle, or to a program listed here', async t => {
  const known = new Set([...FOREIGN, ...[...commands.values()].flatMap(flags => [...flags.keys()])])
  const named = pages().flatMap(({ name, text }) => inlineCode(text).flatMap(code => [...code.matchAll(/(?:^|[ |])(--[\w-]+)/g)].map(([, flag]) => ({ name, flag }))))
  t.ok(named.length > 150)
  t.same(named.filter(({ flag }) => !known.has(flag)).map(({ name, flag }) => `${name}: ${flag}`), [])
})

t.test('each `npm run …` is a script, and each `npx tap …` and `node …` names a file', async t => {
  let checked = 0
  for (const { page, words: [program, verb, ...rest] } of examples) {
    if (program === 'npm' && verb === 'run') {
      checked++
      t.ok(Object.hasOwn(scripts, rest[0]), `${page}: npm run ${rest[0]}`)
    }
    for (const file of [verb, ...rest].filter(word => /^(?:test|bench|examples)\//.test(word ?? ''))) t.ok(fs.existsSync(path.join(ROOT, file)), `${page}: ${file}`)
  }
  t.ok(checked > 15)
})

/** @param {string[]} call @returns {string | null} the error, if any */
function flawIn ([first, ...rest]) {
  const args = [...SYNONYMS[first] ?? [first], ...rest].filter(word => word !== undefined)
  let command = ''
  for (let i = 0; i < args.length; i++) {
    const word = args[i]
    if (!word.startsWith('-') || /^-\d/.test(word)) {
      if (command === '' && commands.has(word)) command = word
      else if (command === '' && /^\w+$/.test(word) && word !== 'options') return `there is no command ${word}`
      else if (PASSES_ON.includes(command)) return null
      continue
    }
    const [name, joined] = word.split(/=(.*)/s)
    if (name === '--help') continue
    const flag = commands.get(command)?.get(name)
    if (!flag) return `there is no ${name}${command && ` of ${command}`}`
    const value = joined ?? (flag.takesValue ? args[++i] : undefined)
    if (flag.takesValue && value === undefined) return `${name} takes a value`
    const kind = CHECKED.get(name)
    if (flag.takesValue && value !== undefined && kind && !PLACEHOLDER.test(value) && kind.read(name === '--header' || name === '--node-option' ? [value] : value) === undefined) return `${name} takes ${kind.accepts}`
  }
  return null
}

/** @param {string} line @returns {string[][]} the words of each simple command in it */
function simpleCommands (line) {
  /** @type {string[][]} */
  const found = [[]]
  for (const [, quoted, bare] of line.replace(/^ *\$ /, '').matchAll(/'([^']*)'|((?:"[^"]*"|[^\s'"])+)/g)) {
    const word = quoted ?? bare.replaceAll('"', '')
    if (quoted === undefined && word.startsWith('#')) break
    if (quoted === undefined && /^(?:&&|\|\|?|;|do|&)$/.test(word)) found.push([])
    else if (quoted === undefined && word.endsWith(';')) found.at(-1)?.push(word.slice(0, -1)) || found.push([])
    else found.at(-1)?.push(word)
  }
  return found.map(plain).filter(words => words.length > 0)
}

/** Without variables before the program and redirections. @param {string[]} words @returns {string[]} */
function plain (words) {
  const output = words.findIndex(word => /^\d?>{1,2}$/.test(word))
  const kept = output === -1 ? words : words.slice(0, output)
  const program = kept.findIndex(word => !/^[A-Z_]+=/.test(word) && word !== 'npx')
  const [first = '', ...rest] = program === -1 ? [] : kept.slice(program)
  const name = first.replace(/^ExecStart=/, '')
  return name === '' ? [] : [/^(?:\S*\/)?recycle$/.test(name) ? 'recycle' : name, ...rest.map(word => word.replace(/^\[(.*)$/, '$1').replace(/^(.*[^\]])\]$/, '$1'))]
}

/** @param {string} what @returns {Promise<string>} */
async function helpOf (what) {
  const { stdout, code } = await call(['help', what], { env: { COLUMNS: '200' } })
  if (code !== 0) throw new Error(`recycle help ${what} exited with ${code}`)
  return stdout
}

/** @param {string} help @returns {Map<string, Flag>} by name, long and short */
function flagsIn (help) {
  const lines = [...help.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)( <[^>]+>)?(?: |$)/gm)]
  return new Map(lines.flatMap(([, short, long, value]) => [short, long].filter(Boolean)
    .map(name => /** @type {[string, Flag]} */ ([name, { takesValue: value !== undefined }]))))
}
