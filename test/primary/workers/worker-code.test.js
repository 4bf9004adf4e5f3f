'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')

const { FEATURES } = require('../../../lib/features')

const ROOT = path.join(__dirname, '..', '..', '..')

/** Loads all that a worker may load, from the package that a preload file is of. @param {string} preload */
function loadAll (preload) {
  const path = require('node:path')
  const fs = require('node:fs')
  const lib = path.join(path.dirname(preload), '..')
  const { workerPartOf } = require(path.join(lib, 'features', 'by-name'))
  const names = fs.readdirSync(path.join(lib, 'features')).filter(name => !name.endsWith('.js'))
  for (const name of names) if (fs.existsSync(path.join(lib, 'features', name, 'worker.js'))) workerPartOf(name)
  const worker = path.join(lib, 'worker')
  for (const file of fs.readdirSync(worker, { recursive: true, encoding: 'utf8' })) if (file.endsWith('.js')) require(path.join(worker, file))
  return [require(path.join(lib, 'native', 'addon')).loadAddon().missing, require(path.join(lib, 'features', 'blocked', 'interrupt')).loadInterrupt().missing]
}

/** Has an app answer as before a fork, and prints how often. @param {string} preload */
async function warmUp (preload) {
  const path = require('node:path')
  const http = require('node:http')
  const { warmUpApp } = require(path.join(path.dirname(preload), '..', 'features', 'fork', 'app-warmup'))
  let count = 0
  await warmUpApp([http.createServer((request, response) => {
    count++
    response.end()
  })], 20)
  process.stdout.write(String(count))
}

t.test('once the package on disk is another one, workers have all that they may load from what was kept: the code of each feature, and the addons', async t => {
  const folder = t.testdir({})
  for (const part of ['lib', 'package.json']) fs.cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true })
  const { WorkerCode, version } = require(path.join(folder, 'lib', 'primary', 'workers', 'worker-code'))
  const found = []
  const code = new WorkerCode(warning => found.push(warning))
  code.keep()
  t.equal(code.preload, path.join(folder, 'lib', 'worker', 'preload.js'))
  const about = path.join(folder, 'package.json')
  fs.writeFileSync(about, fs.readFileSync(about, 'utf8').replace(`"version": "${version}"`, '"version": "99.0.0"'))
  fs.rmSync(path.join(folder, 'lib'), { recursive: true })
  const { preload } = code
  t.teardown(() => code.close())
  t.same(found, [{ warning: 'package', found: '99.0.0', version }])
  t.notOk(preload.startsWith(folder), 'it is not in the package any more')
  const script = `process.stdout.write(JSON.stringify((${loadAll})(${JSON.stringify(preload)})))`
  t.equal(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }), '[null,null]', 'no addon is missing')
  const asked = execFileSync(process.execPath, ['-e', `(${warmUp})(${JSON.stringify(preload)})`], { encoding: 'utf8' })
  t.equal(asked, '20', 'a mold warms its app up')
  const kept = fs.readdirSync(path.join(path.dirname(preload), '..', 'features'), { recursive: true, encoding: 'utf8' })
  t.same(kept.filter(file => /(?:primary|command|report|verb)\.js$/.test(file)), [], 'what no worker loads takes no memory of the primary')
  const withPart = FEATURES.filter(({ worker }) => worker).map(({ name }) => path.join(name, 'worker.js'))
  t.same(kept.filter(file => path.basename(file) === 'worker.js').sort(), withPart.sort(), 'each that says so has a part, and no other')
})

t.test('a version that is there and cannot be kept is said once', async t => {
  const folder = t.testdir({})
  for (const part of ['lib', 'package.json']) fs.cpSync(path.join(ROOT, part), path.join(folder, part), { recursive: true })
  const { WorkerCode } = require(path.join(folder, 'lib', 'primary', 'workers', 'worker-code'))
  fs.rmSync(path.join(folder, 'lib', 'worker', 'channel.js'))
  /** @type {string[]} */
  const said = []
  const code = new WorkerCode((/** @type {any} */ { warning, why }) => said.push(`${warning} ${why}`))
  code.keep()
  code.keep()
  t.match(said, [/^package-unkept ENOENT: .*channel/])
  t.equal(said.length, 1)
})
