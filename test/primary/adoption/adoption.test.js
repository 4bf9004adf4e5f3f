'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
const { setTimeout: after } = require('node:timers/promises')
const { familyOf, socketName } = require('../../../lib/core/orphan')
const { loadAddon } = require('../../../lib/native/addon')
const { Adoption } = require('../../../lib/primary/adoption/adoption')
const { OrphanProcess } = require('../../../lib/primary/adoption/orphan-process')
const { Legacy } = require('../../../lib/primary/legacy')
const { AppPath } = require('../../../lib/primary/workers/app-path')
const { Rollout } = require('../../../lib/primary/workers/rollout')
const { version } = require('../../../lib/primary/workers/worker-code')

const skip = loadAddon().addon === null && 'there is no addon here'

/** An app of two releases, and a primary of it that has an orphan by this process's socket. @param {any} t */
async function scene (t) {
  const folder = fs.realpathSync(t.testdir({ 1: { 'app.js': '' }, 2: { 'app.js': '' }, current: t.fixture('symlink', '2') }))
  const app = path.join(folder, 'current', 'app.js')
  const key = `${process.pid} ${t.name}`
  const server = net.createServer().listen(socketName(familyOf(Number(process.geteuid?.()), key), process.pid))
  await once(server, 'listening')
  t.teardown(() => server.close())
  const primary = () => {
    const calls = /** @type {any[]} */ ([])
    const worker = { send: (/** @type {any} */ _, /** @type {any} */ legacy) => calls.push({ legacy }) }
    const record = (/** @type {string} */ event, /** @type {any} */ fields) => calls.push({ event, ...fields })
    /** @param {string} name @param {() => Promise<any>} work */
    const run = (name, work) =>
      new Promise(resolve => resolve(work())).catch(({ message }) => calls.push({ name, message }))
    /** @param {{ slot: number }} slot */
    const boot = ({ slot }) =>
      calls.push({ boot: slot, app: deps.spawner.appPath.of(deps.fleet.rollout.generation).real })
    const survivors = { key, home: '', bySlot: new Map(), areLeft: true, identity: () => ({ fleet: key, home: '', app }) }
    const deps = {
      options: { workers: 1, readyTimeoutMs: 1000 },
      fleet: {
        ...{ desired: 1, isPinned: false, all: () => [worker], slots: new Map(), rollout: new Rollout() },
        open: (/** @type {number} */ slot) => ({ slot })
      },
      features: { heirs: [] },
      spawner: { app, appPath: new AppPath(app, []) },
      survivors,
      takeover: null,
      tenure: { hasBegun: true, isOver: false },
      tasks: { run },
      record,
      listeningSockets: { adopt () {} },
      recycler: { boot }
    }
    const legacy = new Legacy(/** @type {any} */ (deps))
    return { ...deps, calls, legacy, adoption: new Adoption(/** @type {any} */ ({ ...deps, legacy })) }
  }
  const file = (/** @type {number} */ of) => path.join(folder, String(of), 'app.js')
  const { find } = OrphanProcess
  t.teardown(() => { OrphanProcess.find = find })
  return { primary, file, key, app }
}

for (const recycle of [version, '0.0.1']) {
  t.test(`the next primary does not run what was rolled back, also where the orphans are of recycle ${recycle}`, { skip }, async t => {
    const { primary, file, key, app } = await scene(t)
    const old = primary()
    const { appPath } = old.spawner
    appPath.set(0, { real: file(1), exec: file(1), cwd: undefined })
    appPath.of(1)
    appPath.forget(1)
    await old.legacy.tell()
    const [{ legacy }] = old.calls
    const next = primary()
    next.fleet.all = () => []
    const identity = { recycle, fleet: key, home: '', app, pid: process.pid, slot: 0, generation: 5 }
    const facts = { ...identity, legacy, since: 0, oldPid: 1, sockets: [] }
    OrphanProcess.find = async () =>
      /** @type {any} */ ({ facts, descriptors: [], dismiss () { next.calls.push('dismissed') } })
    await next.adoption.find()
    next.adoption.begin('left')
    t.equal(next.spawner.appPath.of(next.fleet.rollout.generation).real, file(1))
    const [warning] = next.calls.filter(({ warning }) => warning === 'release-kept')
    t.match(warning, { event: 'fleet.warning', app: file(1), named: file(2) }, 'the link, and fleet.start, say otherwise')
    if (recycle === version) t.match(next.calls.filter(({ boot }) => boot !== undefined), [{ boot: 0, app: file(1) }])
    else t.ok(next.calls.includes('dismissed'))
  })
}

t.test('a look for orphans that fails is not the last one: no lease is given while there may be some', { skip }, async t => {
  const { primary } = await scene(t)
  const next = primary()
  OrphanProcess.find = async () => { throw new Error('no descriptors') }
  next.adoption.isWaiting = true
  next.adoption.begin()
  while (!next.calls.some(({ name }) => name === 'orphans')) await after(50)
  OrphanProcess.find = async () => null
  const late = setTimeout(() => next.adoption.emit('looked'), 5000)
  await once(next.adoption, 'looked')
  clearTimeout(late)
  t.equal(next.adoption.isWaiting, false)
})
