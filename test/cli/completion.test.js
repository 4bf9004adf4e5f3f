'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { OPTIONS } = require('../../lib/tables/options')
const { call } = require('../support/calls')
const { lacking } = require('../support/program')
const { Terminal } = require('../support/terminal')

const COMMANDS = ['drill', 'report', 'completion'] // some of them

/** @param {string[]} args */
const recycle = (...args) => call(args)

/** A folder with files to complete, and the script of a shell. @param {any} t @param {string} shell */
async function prepare (t, shell) {
  const { code, stdout, stderr } = await recycle('completion', shell)
  t.same([code, stderr], [0, ''])
  const dir = fs.realpathSync(t.testdir({ script: stdout, cwd: { 'app.js': '', 'my app.js': '', folder: {} } }))
  return { script: path.join(dir, 'script'), cwd: path.join(dir, 'cwd') }
}

const NAMES = ['app.js', 'folder', 'my app.js']

/**
 * The line typed, up to the cursor, and the candidates, for every shell.
 *
 * @type {[string[], string[]][]}
 */
const OFFERS = [
  [['--metric', ''], ['anon', 'pss', 'rss', 'uss']],
  [['--metric', 'p'], ['pss']],
  [['--no-handoff', '--log', 'j'], ['json']],
  [['--workers', ''], ['auto']],
  [['--samples', ''], []],
  [['--journal', 'a'], ['app.js']],
  [['--control', ''], [...NAMES, 'none']],
  [['--config', ''], [...NAMES, 'none']],
  [['a'], ['app.js']],
  [['--metric', 'pss', 'my'], ['my app.js']],
  [['-w', '2', 'dri'], ['drill']],
  [['drill', ''], NAMES],
  [['drill', '--keep', ''], NAMES],
  [['drill', '--metric', ''], ['anon', 'pss', 'rss', 'uss']],
  [['drill', '--out', 'a'], ['app.js']],
  [['drill', '--path', ''], []],
  [['drill', 'app.js', '--me'], []],
  [['drill', 'app.js', 'my'], ['my app.js']],
  [['report', 'app.js', 'my'], ['my app.js']],
  [['report', 'app.js', '--ht'], ['--html']],
  [['completion', ''], ['bash', 'fish', 'zsh']],
  [['app.js', '--me'], []],
  [['app.js', 'fol'], ['folder']],
  [['--no-c'], ['--no-compile-cache']],
  [['report', '--j'], ['--json']]
]

t.test('bash', { skip: lacking('bash') }, async t => {
  const { script, cwd } = await prepare(t, 'bash')
  const offers = (/** @type {string[]} */ ...words) => execFileSync('bash', ['--norc', '--noprofile', '-c', `
    set -u
    source "$1"; shift
    COMP_WORDS=(recycle "$@") COMP_CWORD=$#
    _recycle
    printf '%s\\n' "\${COMPREPLY[@]-}"`, 'bash', script, ...words], { cwd, encoding: 'utf8' }).split('\n').filter(Boolean).sort()

  for (const [words, offered] of OFFERS) t.same(offers(...words), offered, `recycle ${words.join(' ')}⇥`)
  t.same(offers('--metric', '=', 'p'), ['pss'], 'bash parts a word at =')
  t.same(offers('--metric', '='), ['anon', 'pss', 'rss', 'uss'])
  t.same(offers('drill', '--metric', '=', 'rss', '--log', ''), ['json', 'pretty', 'silent'])
  t.same(offers('--', 'dri'), [], 'after -- comes the app')
  const first = offers('')
  for (const name of [...COMMANDS, ...NAMES]) t.ok(first.includes(name), name)
  const flags = offers('-')
  for (const { flag, short } of OPTIONS) for (const name of [flag.split(' ')[0], short]) if (name) t.ok(flags.includes(name), name)
})

t.test('fish', { skip: lacking('fish') }, async t => {
  const { script, cwd } = await prepare(t, 'fish')
  const offers = (/** @type {string[]} */ ...words) => execFileSync('fish', ['--no-config', '-c', `source ${script}; complete -C ${JSON.stringify(['recycle', ...words].join(' '))}`], { cwd, encoding: 'utf8' })
    .split('\n').filter(Boolean).map(line => line.split('\t')[0].replace(/\/$/, '').replaceAll('\\ ', ' ')).sort()

  for (const [words, offered] of OFFERS) t.same(offers(...words), offered, `recycle ${words.join(' ')}⇥`)
  t.same(offers('--metric=p'), ['--metric=pss'])
  const first = offers('')
  for (const name of [...COMMANDS, ...NAMES]) t.ok(first.includes(name), name)
  const flags = offers('--')
  for (const { flag } of OPTIONS) t.ok(flags.includes(flag.split(' ')[0]), flag)
})

t.test('zsh', { skip: lacking('zsh', 'tmux') }, async t => {
  const { script, cwd } = await prepare(t, 'zsh')
  fs.appendFileSync(script, "\nunsetopt auto_menu beep\nzstyle ':completion:*' menu no\nLISTMAX=1000\nPS1='ready> '\n")
  const terminal = new Terminal(t, ['zsh', '-f'], { columns: 120, rows: 100, cwd })
  terminal.type(`autoload -Uz compinit; compinit -u -D; source ${script}`)
  terminal.press('Enter')
  await terminal.until(/^ready>$/m)

  /** The completed line, or the list below it. @param {string} typed @param {RegExp} wanted */
  async function offers (typed, wanted) {
    terminal.press('C-u', 'C-l')
    await terminal.until(/^ready>$/)
    terminal.type(`recycle ${typed}`)
    terminal.press('Tab')
    t.match(await terminal.until(wanted), wanted, `recycle ${typed}⇥`)
  }
  await offers('--metr', /^ready> recycle --metric=$/m)
  await offers('--metric ', /^anon +pss +rss +uss$/m)
  await offers('--metric=p', /--metric=pss\b/)
  await offers('dri', /^ready> recycle drill$/m)
  await offers('drill --lo', /^--load-workers .*\n--log /m)
  await offers('drill --log j', /drill --log json$/m)
  await offers('drill app', /drill app\.js$/m)
  await offers('drill app.js my', /drill app\.js my\\ app\.js$/m)
  await offers('app.js fol', /app\.js folder\/$/m)
  await offers('--control n', /--control none$/m)
  await offers('completion ', /^bash +fish +zsh$/m)
  await offers('', /^drill +-- .*\n[^]*^app\.js +folder\/? +my\\? app\.js$/m)
})

t.test('another shell is refused in one sentence, with exit code 2', async t => {
  const { code, stdout, stderr } = await recycle('completion', 'tcsh')
  t.same([code, stdout], [2, ''])
  t.match(stderr, /^recycle: [^\n]*tcsh[^\n]*bash, zsh, fish[^\n]*\n$/)
})
