'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { becomesTrue } = require('../support/processes')
const { openCompileCache } = require('../../lib/native/compile-cache')

/** A private folder under the temporary one, which is sticky and writable for all. @param {any} t */
function privateFolder (t) {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-cache-')))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

t.test('the folder is private to the user, under XDG_CACHE_HOME, else under ~/.cache', async t => {
  const home = privateFolder(t)
  for (const [env, where] of /** @type {const} */ ([
    [{ HOME: home }, path.join(home, '.cache')], [{ HOME: home, XDG_CACHE_HOME: path.join(home, 'xdg') }, path.join(home, 'xdg')]
  ])) {
    const folder = path.join(where, 'recycle', 'compile-cache')
    t.equal(openCompileCache(env), folder)
    t.equal(fs.statSync(folder).mode & 0o777, 0o700)
    t.equal(openCompileCache(env), folder, 'also if it exists already')
  }
})

t.test('a link is followed, and its target is checked', async t => {
  const home = privateFolder(t)
  fs.mkdirSync(path.join(home, 'real'))
  fs.symlinkSync(path.join(home, 'real'), path.join(home, 'link'))
  t.equal(openCompileCache({ XDG_CACHE_HOME: path.join(home, 'link') }), path.join(home, 'real', 'recycle', 'compile-cache'))
  fs.chmodSync(path.join(home, 'real'), 0o777)
  t.equal(openCompileCache({ XDG_CACHE_HOME: path.join(home, 'link') }), null)
})

t.test('there is none in a folder, or below one, that others may write', async t => {
  for (const [which, mode] of /** @type {const} */ ([['', 0o770], ['recycle', 0o707], ['recycle/compile-cache', 0o720], ['recycle/compile-cache', 0o1777]])) {
    const home = privateFolder(t)
    const env = { XDG_CACHE_HOME: home }
    t.ok(openCompileCache(env))
    fs.chmodSync(path.join(home, which), mode)
    t.equal(openCompileCache(env), null, `${which || 'the cache home'} is ${mode.toString(8)}`)
  }
})

t.test('there is none where a folder belongs to another user', { skip: process.getuid?.() !== 0 && 'only root can give a folder away' }, async t => {
  for (const which of ['', 'recycle', 'recycle/compile-cache']) {
    const home = privateFolder(t)
    const env = { XDG_CACHE_HOME: home }
    t.ok(openCompileCache(env))
    fs.chownSync(path.join(home, which), 12345, 12345)
    t.equal(openCompileCache(env), null, which || 'the cache home')
  }
})

t.test('there is none where no folder can be made, and none under coverage', async t => {
  const home = privateFolder(t)
  fs.writeFileSync(path.join(home, 'file'), '')
  t.equal(openCompileCache({ XDG_CACHE_HOME: path.join(home, 'file') }), null)
  t.equal(openCompileCache({ XDG_CACHE_HOME: home, NODE_V8_COVERAGE: path.join(home, 'coverage') }), null)
  t.notOk(fs.existsSync(path.join(home, 'recycle')))
})

t.test('entries not written for 30 days are deleted, once a day', async t => {
  const env = { XDG_CACHE_HOME: privateFolder(t) }
  const folder = /** @type {string} */ (openCompileCache(env))
  const version = path.join(folder, 'v22-x64')
  fs.mkdirSync(version)
  const days = (/** @type {number} */ n) => Date.now() / 1000 - n * 24 * 3600
  const make = (/** @type {string} */ name, /** @type {number} */ age) => {
    fs.writeFileSync(path.join(version, name), 'code')
    fs.utimesSync(path.join(version, name), days(age), days(age))
  }
  make('old', 31)
  make('young', 29)
  const looked = (/** @type {number} */ age) => fs.utimesSync(`${folder}.pruned`, days(age), days(age))
  const { opendir } = fs.promises
  t.teardown(() => { fs.promises.opendir = opendir })
  let looks = 0
  fs.promises.opendir = (file, options) => {
    looks++
    return opendir(file, options)
  }
  looked(0.9)
  openCompileCache(env)
  t.equal(looks, 0, 'the last look is less than a day ago')
  looked(1.1)
  openCompileCache(env)
  t.ok(await becomesTrue(() => !fs.existsSync(path.join(version, 'old'))))
  t.same(fs.readdirSync(version), ['young'])
  looked(-1)
  openCompileCache(env)
  t.equal(looks, 2, 'a clock that was ahead delays nothing')
})
