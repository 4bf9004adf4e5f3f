'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { BIN, FIXTURES, freePort, startCli } = require('../support/fleet')
const { call } = require('../support/calls')
const { get } = require('../support/client')
const { runToEnd } = require('../support/processes')
const { lacking } = require('../support/program')
const { Terminal } = require('../support/terminal')

const INTROSPECT = fs.readFileSync(path.join(FIXTURES, 'introspect.js'), 'utf8')

/** @param {string} cwd @param {string[]} args @param {Record<string, string>} [env] */
const recycle = (cwd, args, env) => call(args, { env: { PORT: '0', ...env }, cwd })
/** In a process of its own. @param {string} cwd @param {string[]} args @param {Record<string, string>} [env] */
const recycleAlone = (cwd, args, env) => runToEnd([process.execPath, BIN, ...args], { env: { PORT: '0', ...env }, cwd })

/** Rows of `--print-config`, by option. @param {string} stdout @returns {Record<string, string[]>} value and origin */
function rowsOf (stdout) {
  return Object.fromEntries(stdout.trim().split('\n').slice(1).map(line => line.split(/\s{2,}/)).map(([name, ...rest]) => [name, rest]))
}

/**
 * A project: a search for config files ends where its package.json is.
 *
 * @param {any} t @param {Record<string, any>} files
 * @returns {string}
 */
function project (t, files) {
  return fs.realpathSync(t.testdir({ 'package.json': '{}', ...files }))
}

t.test('recycle without arguments starts the app that the config file names, from its folder, with its args', async t => {
  const dir = project(t, {
    app: { 'introspect.js': INTROSPECT, 'reports-start.js': '' },
    sub: {},
    'recycle.config.json': JSON.stringify({ $schema: './schema.json', app: 'app/introspect.js', args: ['--its', 'own'], workers: 1, journal: 'run.ndjson', nodeOption: ['--expose-gc'] })
  })
  const { port, child, events, exited } = await startCli(t, [], { cwd: path.join(dir, 'sub') })
  const { options } = await events.until('fleet.start')
  t.match(options, { workers: 1, journal: path.join(dir, 'run.ndjson') })
  await events.until('worker.ready')
  const about = JSON.parse((await get(port, '/')).body)
  t.same(about.argv, ['--its', 'own'])
  t.match(about, { isMain: true, file: path.join(dir, 'app', 'introspect.js'), execArgv: ['--expose-gc'] })
  child.kill('SIGTERM')
  t.same(await exited, { code: 0, signal: null })
  t.match(fs.readFileSync(path.join(dir, 'run.ndjson'), 'utf8'), '"fleet.stop"')
})

t.test('flags beat the environment, the environment beats the file, the file beats the default', async t => {
  const cwd = project(t, { 'recycle.config.json': JSON.stringify({ app: 'app.js', args: ['-x'], workers: 9, samples: 9, interval: '9s', maxRss: '100M', handoff: false, log: 'json' }) })
  const { code, stdout, stderr } = await recycle(cwd, ['--print-config', '-w', '2'], { RECYCLE_WORKERS: '3', RECYCLE_SAMPLES: '4' })
  t.same([code, stderr], [0, ''])
  t.notMatch(stdout, '\u001b', 'no colours off a terminal')
  t.match(rowsOf(stdout), {
    app: [path.join(cwd, 'app.js'), 'recycle.config.json'],
    args: ['["-x"]', 'recycle.config.json'],
    workers: ['2', '--workers'],
    samples: ['4', 'RECYCLE_SAMPLES'],
    interval: ['9s', 'recycle.config.json'],
    hardRss: ['1.25 × soft (125 MiB)', 'default'],
    handoff: ['off', 'recycle.config.json'],
    jitter: ['10', 'default']
  })
  t.match(await recycle(cwd, ['--print-config'], { RECYCLE_WORKRS: '3' }), {
    code: 0, stderr: 'recycle: RECYCLE_WORKRS is not read; did you mean RECYCLE_WORKERS?\n'
  })
  t.match(rowsOf((await recycle(cwd, ['--print-config', 'other.js', '--its'])).stdout), {
    app: ['other.js', 'command line'], args: ['["--its"]', 'command line']
  }, 'the args in the file belong to the app in the file')
  const without = await recycle(cwd, ['--print-config', '--config', 'none'])
  t.match(rowsOf(without.stdout), { app: ['none', 'default'], interval: ['1s', 'default'] })
  t.match(rowsOf((await recycle(cwd, ['--print-config'], { RECYCLE_CONFIG: 'none' })).stdout), { interval: ['1s', 'default'] })
})

t.test('what is in force stands beside what is written, where the two differ', async t => {
  const cwd = project(t, { 'shop.js': '', 'recycle.config.json': JSON.stringify({ app: 'shop.js', workers: '2..2', interval: '1 second', drainTimeout: '90s', stopLinger: 0, maxAge: '1555ms', maxRss: '100M' }) })
  const { stdout } = await recycle(cwd, ['--print-config'], { RECYCLE_CONTROL: '', RECYCLE_CONTROL_DIR: cwd, RECYCLE_HEAPDUMP_LIMIT: '1073741824' })
  t.match(rowsOf(stdout), {
    workers: ['2..2'],
    interval: ['1 second (1s)'],
    drainTimeout: ['90s (1.5m)'],
    replayAfter: ['the drain timeout (1.5m)', 'default'],
    killTimeout: ['5s', 'default'],
    stopLinger: ['0', 'recycle.config.json'],
    maxAge: ['1555ms'],
    maxRss: ['100M (100 MiB)'],
    hardRss: ['1.25 × soft (125 MiB)', 'default'],
    heapdumpLimit: ['1073741824 (1 GiB)', 'RECYCLE_HEAPDUMP_LIMIT'],
    metric: [/ \(rss\)$/, 'default'],
    log: ['pretty on a terminal, else json (json)', 'default'],
    name: ["the app's (shop)", 'default'],
    control: [`by --name, in $XDG_RUNTIME_DIR/recycle or /tmp/recycle-<uid> (${path.join(cwd, 'shop.sock')})`, 'default']
  })
  t.match(rowsOf((await recycle(cwd, ['--print-config', '--config', 'none'])).stdout), { hardRss: ['1.25 × soft (none)', 'default'], name: ["the app's", 'default'], maxRss: ['none', 'default'] })
})

t.test('on a terminal, defaults are dimmed', { skip: lacking('tmux') }, async t => {
  const cwd = project(t, { 'recycle.config.json': '{ "samples": 4 }' })
  const terminal = new Terminal(t, ['sh', '-c', `env -u NO_COLOR -u NODE_DISABLE_COLORS -u FORCE_COLOR ${process.execPath} ${BIN} --print-config; exec sleep 1000`], { cwd, rows: 100, columns: 120 })
  await terminal.until(/^prefix /m)
  const screen = terminal.screen({ colors: true })
  t.match(screen, /\[0m\S*samples +4 +recycle\.config\.json *\n/)
  t.match(screen, /\[(?:0;)?2m\S*jitter +10 +default/)
})

/** @type {Record<string, Record<string, string>>} */
const KINDS = {
  'recycle.config.js': { 'recycle.config.js': 'module.exports = { samples: 7 }' },
  'recycle.config.js of a module': { 'package.json': '{ "type": "module" }', 'recycle.config.js': 'export default { samples: 7 }' },
  'recycle.config.cjs': { 'recycle.config.cjs': 'module.exports = { samples: 7 }' },
  'recycle.config.mjs': { 'recycle.config.mjs': 'export default await { samples: 7 }' },
  'recycle.config.json': { 'recycle.config.json': '\uFEFF{ "samples": 7 }' },
  'package.json': { 'package.json': '{ "recycle": { "samples": 7 } }' }
}

for (const name of ['recycle.config.ts', 'recycle.config.mts', 'recycle.config.cts']) {
  t.test(`${name}: loaded where Node.js strips types, else one sentence`, async t => {
    const held = 'const samples: number = 7\n'
    const cwd = project(t, { [name]: held + (name.endsWith('.cts') ? 'module.exports = { samples }' : 'export default { samples }') })
    const { code, stdout, stderr } = await recycleAlone(cwd, ['--print-config'], { NODE_NO_WARNINGS: '1' })
    if (/** @type {any} */ (process.features).typescript) {
      t.same([code, stderr], [0, ''])
      t.same(rowsOf(stdout).samples, ['7', name])
    } else t.same([code, stdout, stderr], [2, '', `recycle: the config file ${name} is TypeScript, which Node.js ${process.version} does not run by itself; write recycle.config.mjs\n`])
  })
}

for (const [what, files] of Object.entries(KINDS)) {
  t.test(`found: ${what}`, async t => {
    const { code, stdout, stderr } = await recycle(project(t, files), ['--print-config'])
    t.same([code, stderr], [0, ''])
    t.same(rowsOf(stdout).samples, ['7', what.split(' ')[0]])
  })
}

t.test('a config file beats package.json in the same folder, and the nearest folder beats the others', async t => {
  const dir = project(t, {
    'package.json': '{ "recycle": { "samples": 3 } }',
    'recycle.config.json': '{ "samples": 4 }',
    near: { deeper: {}, 'recycle.config.json': '{ "samples": 5 }' },
    'other.json': '{ "samples": 6 }'
  })
  const samples = async (/** @type {string} */ cwd, /** @type {string[]} */ args = []) => rowsOf((await recycle(cwd, ['--print-config', ...args])).stdout).samples
  t.same(await samples(dir), ['4', 'recycle.config.json'])
  t.same(await samples(path.join(dir, 'near', 'deeper')), ['5', '../recycle.config.json'])
  t.same(await samples(path.join(dir, 'near'), ['--config', '../other.json']), ['6', '../other.json'])
})

t.test('the search does not leave the project', async t => {
  const dir = project(t, { 'recycle.config.json': '{ "samples": 4 }', project: { 'package.json': '{}' } })
  t.same(rowsOf((await recycle(path.join(dir, 'project'), ['--print-config'])).stdout).samples, ['2', 'default'])
})

t.test('an error in the file gives one sentence with file and key, and exit code 2', async t => {
  /** @type {[string, Record<string, string>, string, string[]?][]} what, files, the sentence, call */
  const calls = [
    ['an unknown key', { 'recycle.config.json': '{ "max-rss": "1G" }' }, 'the config file recycle.config.json has an unknown key "max-rss"; did you mean maxRss?'],
    ['a wrong type', { 'recycle.config.cjs': 'module.exports = { samples: "4" }' }, 'samples in recycle.config.cjs was given "4"; it takes a whole number from 1 to 1000, as a number'],
    ['a wrong type in package.json', { 'package.json': '{ "recycle": { "prefix": "on" } }' }, 'prefix in package.json was given "on"; it takes true or false (also 1 or 0), as a boolean'],
    ['several apps', { 'recycle.config.js': 'module.exports = { apps: [] }' }, "the config file recycle.config.js holds several apps, as pm2's ecosystem file does; run one recycle per app, each with a file of its own (--config)"],
    ['a file that throws', { 'recycle.config.js': '\n\nthrow new Error("no\\nDATABASE_URL")' }, 'the config file recycle.config.js cannot be loaded: no DATABASE_URL (line 3)'],
    ['a file that throws no error', { 'recycle.config.mjs': 'throw "a fit"' }, 'the config file recycle.config.mjs cannot be loaded: a fit'],
    ['a getter that throws', { 'recycle.config.js': 'module.exports = { get maxRss () { throw new Error("no vault") } }' }, 'the config file recycle.config.js cannot be loaded: no vault (line 1)'],
    ['a file with a wrong import', { 'recycle.config.mjs': 'import "./nowhere.js"' }, 'the config file recycle.config.mjs cannot be loaded: Cannot find module'],
    ['no JavaScript', { 'recycle.config.js': 'module.exports = {{' }, 'the config file recycle.config.js cannot be loaded: Unexpected token'],
    ['no JSON', { 'recycle.config.json': '{\n  "workers": 2,\n}' }, 'the config file recycle.config.json cannot be loaded: Expected double-quoted property name in JSON'],
    ['a package.json that is not JSON', { 'package.json': '{' }, 'the config file package.json cannot be loaded: '],
    ['an empty file', { 'recycle.config.json': '' }, 'the config file recycle.config.json holds nothing; it takes an object of options'],
    ['no default export', { 'recycle.config.mjs': 'export const workers = 2' }, 'the config file recycle.config.mjs holds nothing'],
    ['a missing file', {}, 'the config file nowhere.json does not exist', ['--config', 'nowhere.json', 'app.js']],
    ['a file of another kind', { 'my.yaml': 'workers: 2' }, 'the config file my.yaml is of no known kind; its name ends in .js, .cjs, .mjs, .ts, .mts, .cts, .json', ['--config', 'my.yaml', 'app.js']],
    ['a folder', {}, 'the config file folder.json is no file', ['--config', 'folder.json', 'app.js']],
    ['a package.json without the key', {}, 'the config file package.json has no "recycle" in it', ['--config', 'package.json', 'app.js']],
    ['no app anywhere', { 'recycle.config.json': '{}' }, 'no app was named, and recycle.config.json has no "app" either; see recycle --help'],
    ['no app, and no file', {}, 'no app was named, and no config file was found; see recycle --help', ['-w', '2']],
    ['the file of a drill', { 'recycle.config.json': '{ "wrokers": 2 }' }, 'recycle drill: the config file recycle.config.json has an unknown key "wrokers"; did you mean workers?', ['drill']]
  ]
  const dir = project(t, Object.fromEntries(calls.map(([, files], i) => [i, { 'package.json': '{}', 'folder.json': {}, ...files }])))
  for (const [i, [what, , sentence, args = []]] of calls.entries()) {
    const { code, stdout, stderr } = await recycle(path.join(dir, String(i)), args)
    t.equal(code, 2, `${what}: exit 2`)
    t.equal(stdout, '', `${what}: nothing on stdout`)
    t.match(stderr, /^recycle( drill)?: [^\n]+\n$/, `${what}: one line`)
    t.match(stderr, sentence, what)
  }
  t.same(await recycleAlone(path.join(dir, '0'), []), await recycle(path.join(dir, '0'), []), 'in a process of its own, too')
})

t.test('a config file that awaits a promise that never settles is refused; a slow one is not', async t => {
  const never = 'new Promise(() => {})'
  for (const [name, text] of Object.entries({
    'recycle.config.mjs': `await ${never}; export default {}`,
    'recycle.config.cjs': `module.exports = ${never}`,
    'recycle.config.js': 'module.exports = { then () {} }'
  })) {
    const { code, stderr } = await recycleAlone(project(t, { [name]: text }), ['drill', 'app.js'])
    t.equal(code, 2, name)
    t.equal(stderr, `recycle drill: the config file ${name} cannot be loaded: it awaits what never settles\n`)
  }
  const slow = project(t, { 'recycle.config.mjs': 'export default await new Promise(resolve => setTimeout(resolve, 100, { samples: 7 }))' })
  const { code, stdout } = await recycle(slow, ['--print-config'])
  t.equal(code, 0)
  t.match(rowsOf(stdout), { samples: ['7', 'recycle.config.mjs'] })
})

t.test('only commands that start an app read the file', async t => {
  const cwd = project(t, { 'recycle.config.js': 'throw new Error("was loaded")', 'run.ndjson': '' })
  for (const args of [['--help'], ['--version'], ['report', 'run.ndjson']]) {
    t.notMatch((await recycle(cwd, args)).stderr, 'was loaded', args.join(' '))
  }
})

t.test('a drill takes its app from the file, and neither the name nor the addresses of the fleet in service', async t => {
  const cwd = project(t, {
    'app.js': fs.readFileSync(path.join(FIXTURES, 'plain.js'), 'utf8'),
    'recycle.config.json': JSON.stringify({ app: 'app.js', workers: 2, name: 'in-service', admin: 1, journal: 'of-the-service.ndjson' })
  })
  await recycleAlone(cwd, ['drill', '-d', '200ms', '-c', '4', '--out', 'run.ndjson'], { PORT: String(await freePort()) })
  const start = JSON.parse(fs.readFileSync(path.join(cwd, 'run.ndjson'), 'utf8').split('\n').find(line => line.includes('"fleet.start"')) ?? '')
  t.match(start, { app: path.join(cwd, 'app.js'), options: { workers: 2, name: null, admin: null } })
  t.notOk(fs.existsSync(path.join(cwd, 'of-the-service.ndjson')))
})
