'use strict'

const { parse } = require('acorn')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { version } = require('../../package.json')
const { COMMANDS, MOST_USED } = require('../../lib/cli/help')
const { refuseRuntime } = require('../../lib/cli/runtime')
const { OPTIONS } = require('../../lib/tables/options')
const { call } = require('../support/calls')
const { BIN, FIXTURES } = require('../support/fleet')
const { runToEnd } = require('../support/processes')

const PLAIN = path.join(FIXTURES, 'plain.js')

/** @param {string[]} args @param {Record<string, string>} [env] */
const recycle = (args, env) => call(args, { env: { PORT: '0', ...env } })
/** In a process of its own. @param {string[]} args */
const recycleAlone = args => runToEnd([process.execPath, BIN, ...args], { env: { PORT: '0' } })

t.test('--help fits 80 columns and 45 lines, and names every command', async t => {
  const { code, stdout, stderr } = await recycle(['--help'])
  t.match([code, stderr], [0, ''])
  t.match(stdout, /^Usage: recycle \[options\] <app> \[app args\.\.\.\]\n/)
  const lines = stdout.split('\n')
  t.ok(lines.length <= 45)
  t.same(lines.filter(line => [...line].length > 80), [])
  const names = COMMANDS.flatMap(([names]) => names)
  const { stderr: refusal } = await recycle(['help', 'nonsense'])
  t.same(/or a command: (.*), help$/.exec(refusal.trim())?.[1].split(', ').sort(), [...names].sort())
})

t.test('the README has the ten options of the help', async t => {
  const readme = fs.readFileSync(path.join(__dirname, '..', '..', 'README.md'), 'utf8')
  const rows = [...readme.matchAll(/^\| `(?:-\w, )?(--[\w-]+)/gm)].map(([, flag]) => flag)
  t.same(rows, Object.keys(MOST_USED).map(name => OPTIONS.find(option => option.name === name)?.long))
})

t.test('what cannot be written to a full disk is said and exits 1; a reader that has gone is no failure', { skip: fs.existsSync('/dev/full') ? false : 'no /dev/full' }, async t => {
  const sh = (/** @type {string} */ redirection) => runToEnd(['/bin/sh', '-c', `"${process.execPath}" "${BIN}" help options ${redirection}`], {})
  const full = await sh('> /dev/full')
  t.match(full, { code: 1, stderr: /^recycle: what it prints cannot be written: ENOSPC.*\n$/ })
  t.match(await sh('| true'), { code: 0, stderr: '' })
})

t.test('recycle without an app prints the help on stderr and exits 2', async t => {
  const { stdout } = await recycle(['--help'])
  t.match(await recycleAlone([]), { code: 2, stdout: '', stderr: stdout })
  t.match(await recycle(['start']), { code: 2, stdout: '', stderr: stdout }, 'by the word of another supervisor, too')
})

t.test('help options has every option, help <command> is its --help', async t => {
  const { code, stdout } = await recycle(['help', 'options'])
  t.equal(code, 0)
  for (const { flag } of OPTIONS) t.match(stdout, `${flag} `)
  t.same(await recycle(['help', 'reload']), await recycle(['reload', '--help']))
  t.match(await recycle(['help', 'relaod']), { code: 2, stdout: '', stderr: /^recycle: help was given "relaod"; it takes options, or a command: .*\n$/ })
})

t.test('--version prints the version of the package and exits 0', async t => {
  t.same(await recycleAlone(['--version']), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' })
})

t.test('Node.js before 20, Bun and Deno are refused by name, by code that parses on Node.js 6', async t => {
  const refusal = (/** @type {Record<string, string>} */ versions) => refuseRuntime(versions, '/bin/x')
  for (const node of ['20.0.0', '22.23.1', '26.0.0-nightly']) t.equal(refusal({ node }), null, node)
  t.equal(refusal({ node: '18.20.8' }), '/bin/x is Node.js 18.20.8; Node.js 20 or later is needed')
  t.match(refusal({ node: '9.11.2' }), /^\/bin\/x is Node\.js 9\.11\.2;/)
  t.match(refusal({ node: '24.3.0', bun: '1.4.5' }), /^\/bin\/x is Bun 1\.4\.5;/)
  t.match(refusal({ node: '24.2.0', deno: '2.9.6' }), /^\/bin\/x is Deno 2\.9\.6;/)
  for (const file of [BIN, require.resolve('../../lib/cli/runtime')]) {
    t.ok(parse(fs.readFileSync(file, 'utf8'), { ecmaVersion: 2015, allowHashBang: true }), file)
  }
})

t.test('on another runtime one sentence and exit code 2 come before anything else is loaded', async t => {
  const fake = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })
    process.on('exit', () => console.log(Object.keys(require.cache).length))
    require(${JSON.stringify(BIN)})`
  const { code, stdout, stderr } = await runToEnd([process.execPath, '-e', fake])
  t.same([code, stdout, stderr], [2, '2\n', `recycle: ${process.execPath} is Node.js 18.20.8; Node.js 20 or later is needed\n`])
})

t.test('a wrong call gives one sentence and exit code 2', async t => {
  /**
   * @type {[string, string[], string[], Record<string, string>?][]} what, the call, what the sentence names,
   *   environment
   */
  const calls = [
    ['an unknown option', ['--bogus', PLAIN], ['--bogus', '--help']],
    ['an unknown option that resembles one', ['--max-rs', '3', PLAIN], ['--max-rs', '--max-rss']],
    ['a missing value', ['--workers'], ['--workers', '<n|min..max|auto>']],
    ['a missing app', ['--workers', '2'], ['app']],
    ['no number', ['--workers', 'many', PLAIN], ['--workers', '"many"', 'from 1 to 1024, auto, or a range']],
    ['a number out of range', ['--workers', '0', PLAIN], ['--workers', '"0"', 'from 1 to 1024, auto, or a range']],
    ['no size', ['--max-rss', '5 apples', PLAIN], ['--max-rss', '"5 apples"', 'such as 512MiB']],
    ['no time', ['--interval', 'often', PLAIN], ['--interval', '"often"', '50ms']],
    ['too short an interval', ['-i', '10ms', PLAIN], ['--interval', '"10ms"', '50ms']],
    ['no percentage', ['--jitter', '91', PLAIN], ['--jitter', '"91"', '0 to 90']],
    ['a value that is not in the list', ['--metric', 'vsz', PLAIN], ['--metric', '"vsz"', 'rss, anon, pss, uss']],
    ['no flag', ['--node-option', 'inspect', PLAIN], ['--node-option', 'inspect', 'starting with -']],
    ['a hard budget below the soft one', ['--max-rss', '20MiB', '--hard-rss', '10MiB', PLAIN], ['--hard-rss', '10MiB', '--max-rss']],
    ['a hard budget alone', ['--hard-rss', '10MiB', PLAIN], ['--hard-rss', '10MiB', '--max-rss']],
    ['no surge and no worker may be missing', ['--max-surge', '0', PLAIN], ['--max-surge', '0', '--max-unavailable']],
    ['all may be missing', ['--max-unavailable', '2', '-w', '2', PLAIN], ['--max-unavailable', '2', 'below']],
    ['a journal in a missing folder', ['--journal', '/nonexistent/run.ndjson', PLAIN], ['journal', '/nonexistent/run.ndjson', 'no such file']],
    ['a metric that the meter does not give', ['--metric', 'uss', '--meter', 'pidusage', PLAIN], ['metric uss', 'pidusage', 'rss']],
    ['a bad value in the environment', [PLAIN], ['RECYCLE_WORKERS', '"zero"', 'from 1 to 1024, auto, or a range'], { RECYCLE_WORKERS: 'zero' }],
    ['a bad switch in the environment', [PLAIN], ['RECYCLE_PREFIX', '"maybe"', 'true or false'], { RECYCLE_PREFIX: 'maybe' }]
  ]
  for (const [what, args, names, env] of calls) {
    const { code, stdout, stderr } = await recycle(args, env)
    t.equal(code, 2, `${what}: exit 2`)
    t.equal(stdout, '', `${what}: nothing on stdout`)
    t.match(stderr, /^recycle: [^\n]+\n$/, `${what}: one line`)
    for (const name of names) t.match(stderr, name, `${what}: names ${name}`)
  }
  const [[, args]] = calls
  t.same(await recycleAlone(args), await recycle(args), 'in a process of its own, too')
})

t.test('a value of 5,000 characters is shortened', async t => {
  const long = 'x'.repeat(5000)
  const calls = [['--workers', long, PLAIN], ['--journal', `/${long}/j`, PLAIN], [`--${long}`, PLAIN], [`/${long}.js`], ['--config', `${long}.json`], ['--control', `/${long}`, PLAIN],
    ['--node-option', long, PLAIN], ['status', long], ['status', '--control', `/${long}`], ['tail', '-n', long], ['heapdump', '0', '--then', long],
    ['cpuprofile', '0', '--duration', long], ['drill', '--method', long, PLAIN], ['drill', '--out', `/${long}/o`, PLAIN], ['report', `/${long}`]]
  await Promise.all(calls.map(async args => {
    const { code, stderr } = await recycle(args)
    t.equal(code, 2)
    t.match(stderr, /^recycle( drill)?: [^\n]*x…x[^\n]*\n$/)
    t.ok(stderr.length < 1500, `${args[0]}: ${stderr.length}`)
  }))
})

t.test('a working directory that was deleted is said in one sentence', async t => {
  const gone = t.testdir()
  const script = 'cd "$1" && rmdir "$1" && exec "$2" "$3" "$4"'
  const { code, stdout, stderr } = await runToEnd(['/bin/sh', '-c', script, 'sh', gone, process.execPath, BIN, PLAIN])
  t.same([code, stdout], [2, ''])
  t.match(stderr, /^recycle: the working directory is there no more[^\n]*\n$/)
})

t.test('control characters in a value are escaped', async t => {
  const evil = '\u001b]0;owned\u0007\u009b2J\u202e\n'
  const calls = [['--workers', evil, PLAIN], [`--${evil}`, PLAIN], [`./${evil}`], ['status', evil], ['report', evil], ['drill', '--out', `/${evil}/`, PLAIN], ['heapdump', '0', '--then', evil]]
  await Promise.all(calls.map(async args => {
    const { stderr } = await recycle(args)
    t.match(stderr, /^recycle( drill)?: [^\n\p{Cc}\p{Bidi_Control}]+\n$/u)
  }))
})

t.test('an option on the command line beats the environment', async t => {
  const { code, stderr } = await recycle(['--workers', 'none', PLAIN], { RECYCLE_WORKERS: '2' })
  t.equal(code, 2)
  t.match(stderr, '--workers was given "none"')
})
