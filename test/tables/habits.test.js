'use strict'

const t = require('tap')
const { COMMANDS, SYNONYMS, answerToCommand, answerToFlag, answerToFleet, flagsAfterApp, hintOn } = require('../../lib/cli/habits')
const { FLAGS, hintOnKey } = require('../../lib/tables/habits')
const { OPTIONS } = require('../../lib/tables/options')

const OURS = new Set([...OPTIONS.flatMap(({ short, flag }) => [short, flag.split(' ')[0]]), '--config', '--json', '--now', '--version', '-V', '--import', '--node', '--watch', '--print-config', '--from', '--write'])

t.test('what an answer says to write exists, and what it answers to does not', async t => {
  for (const answer of [...Object.values(COMMANDS), ...Object.values(FLAGS).map(flag => flag.answer)]) {
    for (const [flag] of answer.matchAll(/(?<![\w-])--[a-z-]+/g)) t.ok(OURS.has(flag), `${flag} in "${answer}"`)
  }
  for (const flag of Object.keys(FLAGS)) t.notOk(OPTIONS.some(({ short, flag: long }) => [short, long.split(' ')[0]].includes(flag)), flag)
  for (const word of Object.keys(SYNONYMS)) t.equal(answerToCommand(word), null, `${word} works`)
  t.equal(answerToCommand('constructor'), null)
  t.equal(answerToFlag('--port2'), null)
})

t.test('flags behind the app, and the call that was meant', async t => {
  const meant = (/** @type {string} */ args) => flagsAfterApp('app.js', args.split(' '))?.instead ?? null
  t.equal(meant('--max-rss 200mb -w 2'), 'recycle --max-rss 200mb -w 2 app.js')
  t.equal(meant('--max-rss=200mb --port 80'), 'recycle --max-rss=200mb app.js --port 80')
  t.equal(meant('--prefix x -- -w 3'), 'recycle --prefix app.js x -- -w 3')
  t.equal(meant('-i max --max-memory-restart 300M --wait-ready'), 'recycle -w auto --max-rss 300M --ready-on message app.js')
  t.equal(meant('-i 4 x'), 'recycle -w 4 app.js x')
  t.equal(meant('-i 50ms'), 'recycle -i 50ms app.js', 'an interval')
  t.equal(meant('-m 20'), 'recycle -m 20 app.js')
  t.equal(meant('--instances max'), 'recycle --workers auto app.js')
  t.equal(meant('--instances 4'), 'recycle --workers 4 app.js')
  t.equal(meant('--wait-ready x'), 'recycle --ready-on message app.js x', 'a flag without a value')
  t.equal(meant('--max-requests-jitter 50 x'), 'recycle --jitter 10 app.js x', 'whatever its value')
  t.equal(meant('--graceful-timeout 30'), 'recycle --drain-timeout 30s app.js')
  t.equal(meant('--graceful-timeout 1m'), 'recycle --drain-timeout 1m app.js')
  t.equal(meant('--port 80 -v --watch'), null, 'flags that an app may have')
  t.equal(meant('-- --max-rss 200mb'), null, 'behind --')
  t.equal(meant('-w'), 'recycle -w app.js')
})

t.test('hints on values of the wrong kind', async t => {
  t.match(hintOn('--interval', 'max'), /-w$/)
  t.match(hintOn('--interval', '4'), /-w$/)
  t.equal(hintOn('--interval', '10ms'), '')
  t.match(hintOn('--workers', 'app.js'), /node --watch$/)
  t.equal(hintOn('--workers', 'many'), '')
  t.equal(hintOn('--max-rss', 'max'), '')
})

t.test('behind recycle start, flags of pm2 that have no counterpart are answered too', async t => {
  const meant = (/** @type {string} */ args) => flagsAfterApp('app.js', args.split(' '), { isStart: true })
  t.match(meant('--watch'), { flags: ['--watch'], instead: 'recycle start app.js', answers: [/^there is no --watch: .*node --watch/] })
  t.match(meant('-f --max-rss 1G -- --port 8 -f'), { flags: ['-f', '--max-rss'], instead: 'recycle start --max-rss 1G app.js -- --port 8 -f', answers: [/^there is no -f: .*--name/] })
  t.match(meant('-o out.log --port 8'), { flags: ['-o'], instead: 'recycle start app.js --port 8' })
  t.equal(meant('-- --watch -f'), null)
  t.equal(meant('--port 8 -t 5'), null, 'flags of others may be the app\'s')
})

t.test('an unknown key: what pm2 means by it, else the key that is like it, else where all are listed', async t => {
  t.match(hintOnKey('env_production', []), /environment in which recycle is started/)
  t.match(hintOnKey('env', []), /environment in which recycle is started/)
  t.equal(hintOnKey('kill_timeout', ['killTimeout']), 'write killTimeout, with its unit')
  t.equal(hintOnKey('instances', ['maxRss']), 'write workers')
  t.equal(hintOnKey('node_args', []), 'write nodeOption, once for each')
  t.equal(hintOnKey('maxRSS', ['maxRss', 'maxAge']), 'did you mean maxRss?')
  t.equal(hintOnKey('constructor', ['maxRss'], 'recycle drill --help'), 'recycle drill --help lists those there are')
})

t.test('a number in place of the name of a fleet', async t => {
  t.match(answerToFleet('reload', '0'), /recycle reload alone is for the only one that runs, and recycle recycle 0 replaces the worker of slot 0$/)
  t.equal(answerToFleet('status', '12'), 'fleets have names and no numbers: recycle status alone is for the only one that runs')
  t.equal(answerToFleet('reload', 'shop'), null)
})

t.test('a command of another supervisor is answered, any other word is not', async t => {
  t.equal(answerToCommand('restart'), `there is no restart: ${COMMANDS.restart}`)
  t.equal(answerToCommand('toString'), null)
  t.equal(answerToCommand('app.js'), null)
})
