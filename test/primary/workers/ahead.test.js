'use strict'

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { endAhead, takeAhead } = require('../../../lib/primary/workers/ahead')
const { startAhead } = require('../../../lib/primary/workers/start-ahead')
const { machineFacts } = require('../../../lib/primary/measuring/container')
const { resolveOptions } = require('../../../lib/tables/resolved-options')

/** An app that notes that it runs. @param {any} t */
function appIn (t) {
  const folder = fs.realpathSync(t.testdir({ 'app.js': 'require("node:fs").writeFileSync(__filename + ".ran", JSON.stringify([process.env.RECYCLE_SLOT, process.argv[2]]))' }))
  const app = path.join(folder, 'app.js')
  return { app, hasRun: () => fs.existsSync(`${app}.ran`), said: () => JSON.parse(fs.readFileSync(`${app}.ran`, 'utf8')) }
}

/**
 * @param {any} t @param {string} app @param {Record<string, any>} [options] @param {string} [ofNode] in place of tap's
 */
function start (t, app, options = {}, ofNode = '') {
  const { NODE_OPTIONS } = process.env
  process.env.NODE_OPTIONS = ofNode
  t.teardown(() => {
    endAhead()
    if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS
    else process.env.NODE_OPTIONS = NODE_OPTIONS
  })
  startAhead(app, ['word'], resolveOptions({ control: 'none', log: 'silent', ...options }, machineFacts()))
  return /** @type {import('node:cluster').Worker[]} */ (Object.values(cluster.workers ?? {}))
}

t.test('the first worker is started, waits, and runs the app once it is wanted', async t => {
  const { app, hasRun, said } = appIn(t)
  const [worker] = start(t, app, { nodeOption: ['--max-semi-space-size=32'] }, '--max-old-space-size=512 --no-warnings')
  await once(worker, 'online')
  const ahead = takeAhead(() => ({ exec: app, cwd: undefined }))
  t.equal(ahead?.process.pid, worker.process.pid)
  t.equal(takeAhead(() => ({ exec: app, cwd: undefined })), null, 'there is one')
  /** @type {string[]} */
  const heard = []
  for (const event of ['online', 'message', 'exit']) ahead?.process.on(event, () => heard.push(event))
  t.same(heard, [])
  t.notOk(hasRun())
  ahead?.process.begin()
  t.equal(heard[0], 'online', 'what came before is heard then')
  ahead?.go({ orphan: null })
  await once(/** @type {any} */ (ahead).process, 'exit')
  t.same(said(), ['0', 'word'])
  t.ok(heard.includes('message'))
})

for (const [name, find] of /** @type {const} */ ([
  ['another file', () => ({ exec: '/another.js', cwd: undefined })], ['a file that is there no more', () => { throw new Error('gone') }], ['no process of its own', null]
])) {
  t.test(`it is ended unseen where the first worker is ${name}`, async t => {
    const { app, hasRun } = appIn(t)
    const [worker] = start(t, app)
    t.equal(takeAhead(find), null)
    t.same(await once(worker, 'exit'), [null, 'SIGKILL'])
    t.notOk(hasRun())
  })
}

t.test('it ends by itself when this process lets go of it', async t => {
  const { app, hasRun } = appIn(t)
  const [worker] = start(t, app)
  await once(worker, 'online')
  worker.process.stdio[4]?.destroy()
  t.same(await once(worker, 'exit'), [0, null])
  t.notOk(hasRun())
  t.equal(takeAhead(() => ({ exec: app, cwd: undefined })), null, 'one that has ended is not taken')
})

t.test('none is started where other code would run, or be heard, before the fleet begins', async t => {
  const { app } = appIn(t)
  for (const options of [{ nodeOption: ['--require=./x.js'] }, { readyOn: 'online' }, { output: 'lines' }, { fork: 'mold' }]) {
    t.same(start(t, app, options), [], JSON.stringify(options))
  }
  for (const flags of ['--import ./x.mjs', '--max-old-space-size=512 -r ./x.js', '--inspect']) t.same(start(t, app, {}, flags), [], flags)
  t.same(start(t, path.join(path.dirname(app), 'none.js')), [], 'what is not there')
})
