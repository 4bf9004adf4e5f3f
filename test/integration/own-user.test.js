'use strict'

/** Unix sockets are what they are without workers: by the app's umask, and the user that it has become. */

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { startFleet, freePort, FIXTURES } = require('../support/fleet')

/** @param {any} t tap's */
function folderFor (t) {
  const folder = fs.mkdtempSync('/tmp/recycle-user-')
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  fs.chmodSync(folder, 0o777)
  fs.mkdirSync(path.join(folder, 'closed-folder'), { mode: 0o755 })
  return folder
}

for (const [which, env, skip] of /** @type {const} */ ([['with umasks of its own', {}, false], ['that becomes another user', { DROPS: '1' }, process.getuid?.() !== 0 && 'only root can']])) {
  t.test(`the sockets of an app ${which}`, { skip }, async t => {
    const plain = fork(path.join(FIXTURES, 'own-user.js'), { env: { ...process.env, ...env, FOLDER: folderFor(t), PORT: String(await freePort()) } })
    t.teardown(() => plain.kill())
    const [{ found: expected }] = await once(plain, 'message')
    t.match(expected, { closed: { mode: '700' }, group: { mode: '770' }, last: 'listens' })
    if ('DROPS' in env) t.match(expected, { before: { uid: 0 }, 'before too': { uid: 0 }, after: { uid: 65_534, chmod: 'done' }, 'in a folder of root\'s': { code: 'EACCES' } })
    plain.kill()
    await once(plain, 'exit') // its port may be one of those
    const umask = process.umask()
    Object.assign(process.env, env, { FOLDER: folderFor(t) })
    t.teardown(() => { for (const name of ['FOLDER', ...Object.keys(env)]) delete process.env[name] })
    const { told, supervisor } = await startFleet(t, 'own-user.js', { workers: 1 })
    t.same((await told.until('sockets')).found, expected)
    t.equal(process.umask(), umask)
    t.equal(process.geteuid?.(), process.getuid?.())
    await supervisor.stop()
    t.same(fs.readdirSync(String(process.env.FOLDER)), ['closed-folder'])
  })
}
