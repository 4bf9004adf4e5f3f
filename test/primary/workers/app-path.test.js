'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { AppPath } = require('../../../lib/primary/workers/app-path')

/** A folder with two releases, and a link to the first. @param {any} t tap's */
function releases (t) {
  const folder = fs.realpathSync(t.testdir({ releases: { 1: { 'app.js': '', 'index.js': '' }, 2: { 'app.js': '', 'index.js': '' } } }))
  const current = path.join(folder, 'current')
  const lead = (/** @type {number} */ to) => {
    fs.rmSync(current, { force: true })
    fs.symlinkSync(`releases/${to}`, current)
  }
  lead(1)
  return { folder, current, lead, file: (/** @type {number} */ of, name = 'app.js') => path.join(folder, 'releases', String(of), name) }
}

/** @param {AppPath} app as the next primary takes it over @param {string} current */
function heirOf (app, current) {
  const next = new AppPath('app.js', [], current)
  next.inherit(JSON.parse(JSON.stringify(app.releases)))
  return { next, kept: next.goOn(0) }
}

t.test('a switched link leads a new generation to new code; one generation runs one file', async t => {
  const { current, lead, file } = releases(t)
  for (const [given, name] of [['app.js', 'app.js'], ['app', 'app.js'], ['.', 'index.js']]) {
    lead(1)
    const app = new AppPath(given, [], current)
    t.match(app.of(0), { real: file(1, name), exec: file(1, name), cwd: path.dirname(file(1)) })
    lead(2)
    t.match(app.of(0), { real: file(1, name) })
    t.match(app.of(1), { real: file(2, name), exec: file(2, name), cwd: path.dirname(file(2)) })
  }
})

t.test('a file that is gone is looked up again, and a name that leads nowhere throws', async t => {
  const { folder, current, lead, file } = releases(t)
  const app = new AppPath(path.join(current, 'app.js'), [], folder)
  t.match(app.of(0), { real: file(1) })
  lead(2)
  fs.rmSync(path.dirname(file(1)), { recursive: true })
  t.match([app.of(0), app.current], [{ real: file(2) }, file(2)])
  fs.rmSync(path.dirname(file(2)), { recursive: true })
  t.throws(() => app.of(0), { code: 'ENOENT' })
})

t.test('with --preserve-symlinks-main the app runs by its name', async t => {
  const { folder, current, file } = releases(t)
  const app = new AppPath('current/app.js', ['--preserve-symlinks-main'], folder)
  t.match(app.of(0), { real: file(1), exec: path.join(current, 'app.js') })
})

t.test('the next primary goes back to what the one before ran, or ran before that, in its folder', async t => {
  const { current, lead, file } = releases(t)
  const first = new AppPath('app.js', [], current)
  first.of(0)
  const next = (/** @type {AppPath} */ from) => {
    const app = new AppPath('app.js', [], current)
    app.inherit(JSON.parse(JSON.stringify(from.releases)))
    app.of(0)
    return app
  }
  t.equal(next(first).before(0), `the fleet has run ${file(1)} since it was started`)
  lead(2)
  const second = next(first)
  t.match(second.before(0), { real: file(1), cwd: path.dirname(file(1)) }, 'the link was switched meanwhile')
  const third = next(second)
  const before = /** @type {import('../../../lib/primary/workers/app-path').AppFile} */ (third.before(0))
  t.match(before, { real: file(1) })
  third.back(1, before)
  third.settle(1)
  t.match(third.before(1), `the fleet has gone back from ${file(2)} already; `)
  t.match(next(next(third)).before(0), { real: file(1) }, 'its workers run what the link leads to')
})

t.test('the next primary runs what the name leads to, unless the one before that has died had gone back from it', async t => {
  const { current, lead, file } = releases(t)
  const first = new AppPath('app.js', [], current)
  first.of(0)
  const next = () => {
    const app = new AppPath('app.js', [], current)
    app.inherit(JSON.parse(JSON.stringify(first.releases)))
    app.goOn(0)
    return app
  }
  t.match(next().of(0), { real: file(1) })
  lead(2)
  t.match(next().of(0), { real: file(2) }, 'it may be new')
  first.of(1)
  first.forget(1)
  t.match(next().of(0), { real: file(1), cwd: path.dirname(file(1)) }, 'it was rejected')
  t.match(next().of(1), { real: file(2) }, 'a reload asks for it')
  first.of(2)
  first.settle(2)
  t.match(next().of(0), { real: file(2) })
  first.back(3, /** @type {import('../../../lib/primary/workers/app-path').AppFile} */ (first.before(2)))
  first.settle(3)
  t.match(next().of(0), { real: file(1) }, 'it was rolled back')
  fs.rmSync(path.dirname(file(1)), { recursive: true })
  t.match(next().of(0), { real: file(2) }, 'there is no other')
})

t.test('the release before: none at first, then what all workers ran before another one; twice leads back', async t => {
  const { current, lead, file } = releases(t)
  const app = new AppPath('app.js', [], current)
  app.of(0)
  t.equal(app.before(0), `the fleet has run ${file(1)} since it was started`)
  lead(2)
  app.of(1)
  t.equal(app.before(0), `the fleet has run ${file(1)} since it was started`, 'a trial is no release that the fleet has run')
  app.settle(1)
  const before = /** @type {import('../../../lib/primary/workers/app-path').AppFile} */ (app.before(1))
  t.match(before, { real: file(1) })
  app.set(2, before)
  t.match([app.of(2), app.known(2)], [{ real: file(1) }, file(1)])
  app.settle(2)
  t.match(app.before(2), { real: file(2) })
  fs.rmSync(path.dirname(file(2)), { recursive: true })
  t.equal(app.before(2), `${file(2)}, which the fleet has run before, is there no more`)
})

t.test('a release that is rejected after a rollback does not bring back the one that was rolled back, nor does one of which no worker was started', async t => {
  const { folder, current, lead, file } = releases(t)
  const app = new AppPath('app.js', [], current)
  app.of(0)
  lead(2)
  app.of(1)
  app.settle(1)
  app.back(2, /** @type {import('../../../lib/primary/workers/app-path').AppFile} */ (app.before(1)))
  app.settle(2)
  fs.cpSync(path.join(folder, 'releases', '1'), path.join(folder, 'releases', '3'), { recursive: true })
  lead(3)
  app.of(3)
  app.forget(3)
  app.forget(4)
  t.match(app.releases, { undone: file(2), rejected: file(3) })
  for (const release of [2, 3]) {
    lead(release)
    const { next } = heirOf(app, current)
    t.match(next.of(0), { real: file(1) }, 'nor does the next primary run either of them')
  }
  lead(1)
  app.of(5)
  app.settle(5)
  t.match(app.before(5), `the fleet has gone back from ${file(2)} already; `)
})

t.test('a rollback under way is one for the next primary, and for a second rollback; one that fails has undone nothing', async t => {
  const { current, lead, file } = releases(t)
  const app = new AppPath('app.js', [], current)
  app.of(0)
  lead(2)
  app.of(1)
  app.settle(1)
  const next = () => {
    const { next } = heirOf(app, current)
    next.of(0)
    return next
  }
  t.equal(next().current, file(2))
  const before = /** @type {import('../../../lib/primary/workers/app-path').AppFile} */ (app.before(1))
  app.back(2, before)
  t.equal(next().current, file(1))
  for (const one of [app, next()]) t.match(one.before(one === app ? 2 : 0), `the fleet has gone back from ${file(2)} already; `)
  t.equal(app.current, file(2), 'not all workers have gone back yet')
  app.notBack(2)
  t.equal(next().current, file(2))
  t.match(app.before(1), { real: file(1) })
  app.back(3, before)
  app.back(4, before)
  app.notBack(3)
  t.equal(next().current, file(1), 'a later one is under way')
})

t.test('code that was changed in place, and rejected: the next primary has no other release to go on with', async t => {
  const { current } = releases(t)
  const app = new AppPath('app.js', [], current)
  for (const generation of [0, 1]) app.of(generation)
  app.settle(0)
  app.forget(1)
  t.equal(heirOf(app, current).kept, null, 'nothing to be warned of')
})

t.test('two generations differ where their files do, and that of the earlier one is there', async t => {
  const { current, lead, file } = releases(t)
  const app = new AppPath('app.js', [], current)
  app.of(0)
  t.equal(app.differs(0, 1), false, 'the name leads to the same one')
  lead(2)
  t.equal(app.differs(0, 1), true, 'before a worker of the later one')
  app.of(1)
  t.equal(app.differs(0, 1), true)
  t.equal(app.differs(5, 1), false, 'no worker has been of it')
  fs.rmSync(path.dirname(file(2)), { recursive: true })
  t.equal(app.differs(0, 2), true, 'the name leads nowhere: nothing throws')
  fs.rmSync(path.dirname(file(1)), { recursive: true })
  t.equal(app.differs(0, 1), false)
})

t.test('a rejected release is forgotten; of many generations the latest are known', async t => {
  const { current, lead, file } = releases(t)
  const app = new AppPath('app.js', [], current)
  app.of(0)
  lead(2)
  app.of(1)
  t.equal(app.current, file(1))
  app.forget(1)
  t.equal(app.known(1), null)
  for (let generation = 2; generation < 20; generation++) app.of(generation)
  t.same([app.known(11), app.known(12)], [null, file(2)])
})
