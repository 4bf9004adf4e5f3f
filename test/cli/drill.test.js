'use strict'

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
require('../support/bare-children')
const { call } = require('../support/calls')

const BIN = path.join(__dirname, '..', '..', 'bin', 'recycle.js')
const fixture = (/** @type {string} */ name) => path.join(__dirname, '..', 'fixtures', name)
const QUICK = ['--workers', '1', '--connections', '10', '--rate', '200', '--stop-linger', '200ms', '--interval', '100ms']

/**
 * `recycle drill …`, to its end.
 *
 * @param {any} t
 * @param {string[]} args
 * @param {(child: import('node:child_process').ChildProcess, err: string) => void} [onStderr]
 */
function drill (t, args, onStderr = () => {}) {
  const { PORT, ...env } = process.env
  const child = spawn(process.execPath, [BIN, 'drill', ...args], { env: { ...env, TMPDIR: t.testdir() }, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.on('data', text => { out += text })
  child.stderr.on('data', text => {
    err += text
    onStderr(child, err)
  })
  return new Promise(resolve => child.once('close', code => resolve({ code, out, err, left: fs.readdirSync(t.testdirName) })))
}

/**
 * Ends the drill by a signal when its progress matches.
 *
 * @type {(progress: RegExp) => (child: import('node:child_process').ChildProcess, err: string) => void}
 */
const endAt = progress => (child, err) => { if (!child.killed && progress.test(err)) child.kill('SIGINT') }

t.test('nothing dropped: progress lines, then the report; exit 0', async t => {
  const page = path.join(t.testdirName, 'page.html')
  const out = path.join(t.testdirName, 'run.ndjson')
  const result = await drill(t, ['--recycle-every', '100ms', '--html', page, '--out', out, ...QUICK, fixture('plain.js')], endAt(/ [1-9]\d* recycles? /))
  t.equal(result.code, 0)
  t.match(result.err, /^\d+m?s of 30s {2}[\d,]+ requests {2}0 dropped {2}\d+ recycles?/m)
  t.notMatch(result.err, /\x1b/) // eslint-disable-line no-control-regex
  t.match(result.out, /^0 dropped of [\d,]+ requests over \d+ recycles?\n/, 'the verdict comes first')
  t.match(result.out, /^latency /m)
  t.match(result.out, /\n0 dropped of [\d,]+ requests over \d+ recycles?\n$/, 'and last')
  t.match(fs.readFileSync(page, 'utf8'), /^<!doctype html>/i)
  t.match(fs.readFileSync(out, 'utf8'), /"event":"client.end"/)
  t.same(result.left.sort(), ['page.html', 'run.ndjson'], 'no file is left but the requested ones')
})

t.test('a drop: its kind is printed and the run file is kept; exit 1', async t => {
  const noted = path.join(t.testdirName, 'noted')
  const { code, out } = await drill(t, ['--recycle-every', '500ms', ...QUICK, fixture('dropping.js'), noted], endAt(/ [1-9]\d* dropped {2}[1-9]\d* recycles? /))
  t.equal(code, 1)
  const dropped = fs.statSync(noted).size
  t.match(out, new RegExp(`^${dropped.toLocaleString('en-US')} dropped of `))
  t.match(out, /\breset +GET \//)
  const file = /^The run file is (.*)$/m.exec(out)?.[1] ?? ''
  t.equal(fs.readFileSync(file, 'utf8').match(/"event":"client.drop"/g)?.length, dropped)
})

t.test('inconclusive: the report of what is known, the run file, one sentence; exit 2', async t => {
  const page = path.join(t.testdirName, 'page.html')
  const { code, out, err, left } = await drill(t, ['--duration', '200ms', '--recycle-every', '1h', '--html', page, ...QUICK, fixture('plain.js')])
  t.equal(code, 2)
  t.match(out, /^0 dropped of [\d,]+ requests over 0 recycles\n/)
  t.match(err, /^recycle drill: inconclusive: no recycle took place[^\n]*\n$/m)
  const file = /^The run file is (.*)$/m.exec(out)?.[1] ?? ''
  t.match(fs.readFileSync(file, 'utf8'), /"event":"client.end"/)
  t.match(fs.readFileSync(page, 'utf8'), /^<!doctype html>/i)
  t.equal(left.length, 2, 'the run file in its folder, and the page')
})

t.test('inconclusive, and the load never arrived: what the fleet did is reported', async t => {
  const { code, out, err } = await drill(t, ['--url', 'http://127.0.0.1:9', ...QUICK, fixture('own-address.js'), '0'])
  t.equal(code, 2)
  t.match(out, /^0 cut over 0 recycles\n[^]*\nThe run file is .*\n$/)
  t.match(err, /^recycle drill: inconclusive: the load never arrived[^\n]*\n$/m)
})

t.test('wrong usage: one sentence with the flag, what was given and what it takes; exit 2', async t => {
  for (const [args, sentence] of /** @type {[string[], RegExp][]} */ ([
    [['--connections', '0', 'x.js'], /^recycle drill: --connections was given "0"; it takes a whole number from 1 to 100000\n$/],
    [['--expect', 'ok', 'x.js'], /^recycle drill: --expect was given "ok"; it takes statuses/],
    [['--workers', 'no', 'x.js'], /^recycle drill: --workers was given "no"; it takes /],
    [['--header', 'X', 'x.js'], /^recycle drill: --header was given /],
    [['--html', '/no/such/folder/page.html', 'x.js'], /^recycle drill: --html was given /],
    [['--nonsense', 'x.js'], /^recycle: unknown option '--nonsense'[^\n]*\n$/],
    [[], /^recycle drill: no app was named, and no config file was found[^\n]*\n$/],
    [['no-such-app.js'], /^recycle drill: the app no-such-app.js cannot be started: there is no such file\n$/]
  ])) {
    const { code, stdout, stderr } = await call(['drill', ...args], { env: { PORT: '', TMPDIR: t.testdir() } })
    t.equal(code, 2, args.join(' '))
    t.equal(stdout, '')
    t.match(stderr, sentence)
    t.same(fs.readdirSync(t.testdirName), [])
  }
  t.match(await drill(t, ['--connections', '0', 'x.js']), { code: 2, out: '', err: /^recycle drill: --connections was given "0"; it takes [^\n]*\n$/, left: [] }, 'in a process of its own, too')
})

t.test('every option is in its help', async t => {
  const { code, stdout } = await call(['drill', '--help'])
  t.equal(code, 0)
  for (const flag of ['connections', 'duration', 'path', 'method', 'header', 'body', 'rate', 'expect', 'no-keep-alive', 'load-workers', 'recycle-every', 'out', 'url', 'timeout', 'html', 'max-rss']) {
    t.match(stdout, `--${flag}`)
  }
})
