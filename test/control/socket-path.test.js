'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const t = require('tap')
const { findFleet, listFleets } = require('../../lib/control/client')
const { encode } = require('../../lib/control/protocol')
const { controlFolders, searchedFolders, allSockets, prepareFolder, checkLength } = require('../../lib/control/socket-path')
const { shortFolder } = require('../support/control')

const uid = /** @type {() => number} */ (process.getuid)()
const SHARED = `/tmp/recycle-${uid}`

/** A folder of another user. @param {string} parent */
function foreignFolder (parent) {
  if (uid !== 0) return '/usr'
  const folder = path.join(parent, 'foreign')
  fs.mkdirSync(folder)
  fs.chownSync(folder, 12345, 12345)
  return folder
}

t.test('sockets are in $XDG_RUNTIME_DIR/recycle where that folder belongs to the user, else in /tmp/recycle-<uid>; both are searched', async t => {
  const runtime = shortFolder(t)
  t.same(controlFolders({ XDG_RUNTIME_DIR: runtime }), [path.join(runtime, 'recycle'), SHARED])
  for (const none of [undefined, '', 'relative', path.join(runtime, 'nowhere'), foreignFolder(runtime)]) {
    t.same(controlFolders({ XDG_RUNTIME_DIR: none }), [SHARED], String(none))
  }
  t.same(controlFolders({ XDG_RUNTIME_DIR: runtime, RECYCLE_CONTROL_DIR: '/run/mine' }), ['/run/mine'], 'a path that is given is used instead')
})

t.test('without XDG_RUNTIME_DIR a client looks in /run/user/<uid> too, where that is', async t => {
  const runtime = `/run/user/${uid}`
  const hasRuntime = fs.existsSync(runtime) && fs.statSync(runtime).uid === uid
  t.same(searchedFolders({}), [SHARED, ...hasRuntime ? [`${runtime}/recycle`] : []])
  const other = shortFolder(t)
  t.same(searchedFolders({ XDG_RUNTIME_DIR: other }), [path.join(other, 'recycle'), SHARED])
  t.same(searchedFolders({ RECYCLE_CONTROL_DIR: other }), [other])
  if (hasRuntime || uid !== 0) return
  fs.mkdirSync(runtime, { mode: 0o700, recursive: true })
  t.teardown(() => fs.rmdirSync(runtime))
  t.same(searchedFolders({}), [SHARED, `${runtime}/recycle`])
  t.same(controlFolders({}), [SHARED], 'sockets are opened where they were')
})

t.test('the folder that systemd has made for a service of that name is looked into', { skip: uid !== 0 && 'root alone makes one' }, async t => {
  const name = `recycle-test-${process.pid}`
  const folder = path.join('/run', name)
  fs.mkdirSync(folder, { mode: 0o700 })
  t.teardown(() => fs.rmSync(folder, { recursive: true }))
  const environment = { XDG_RUNTIME_DIR: shortFolder(t) }
  t.notOk(searchedFolders(environment).includes(folder), 'it has no socket of that name')
  fs.writeFileSync(path.join(folder, `${name}.sock`), '')
  fs.chownSync(folder, 12345, 12345)
  t.ok(allSockets(environment).includes(path.join(folder, `${name}.sock`)), "root may use another user's")
  fs.chmodSync(folder, 0o777)
  t.notOk(allSockets(environment).includes(path.join(folder, `${name}.sock`)), 'one that all may write to is not trusted')
})

t.test('a new folder is private to its user; an existing one is not changed, and is refused where other users may write', async t => {
  const folder = path.join(shortFolder(t), 'sockets')
  const mode = () => fs.statSync(folder).mode & 0o7777
  prepareFolder(folder, 'socket')
  t.equal(mode(), 0o700)
  fs.chmodSync(folder, 0o755)
  prepareFolder(folder, 'socket')
  t.equal(mode(), 0o755)
  fs.chmodSync(folder, 0o1777)
  t.throws(() => prepareFolder(folder, 'socket'), { code: 'RECYCLE_CONTROL', message: /other users may write to [^ ]+sockets \(mode 777\)/ })
  t.equal(mode(), 0o1777)
})

t.test('a folder that is a file, another user\'s, or by a link of another user or to nothing, is refused', async t => {
  const parent = shortFolder(t)
  fs.symlinkSync(path.join(parent, 'nothing'), path.join(parent, 'dangling'))
  fs.writeFileSync(path.join(parent, 'file'), '')
  const refused = (/** @type {string} */ folder, /** @type {RegExp} */ message) =>
    t.throws(() => prepareFolder(folder, 'x.sock'), { code: 'RECYCLE_CONTROL', exitCode: 2, message })
  refused(path.join(parent, 'dangling'), /^the control socket x\.sock cannot be opened: .*dangling is a symbolic link to what is not there, or cannot be read$/)
  refused(path.join(parent, 'file'), /file is not a folder$/)
  refused(foreignFolder(parent), /belongs to another user \(uid \d+\)$/)
  refused(path.join(parent, 'no', 'parent'), /no such file or directory/)
})

t.test('a socket in the folder of another user is not taken for a fleet', async t => {
  const parent = shortFolder(t)
  const own = path.join(parent, 'own')
  fs.mkdirSync(own)
  for (const file of ['b.sock', 'a.sock', 'notes.txt']) fs.writeFileSync(path.join(own, file), '')
  t.same(allSockets({ RECYCLE_CONTROL_DIR: own }), [path.join(own, 'a.sock'), path.join(own, 'b.sock')])
  t.same(allSockets({ RECYCLE_CONTROL_DIR: path.join(parent, 'nowhere') }), [])
})

t.test('a folder by a link of root or of its owner is used, as systemd makes one where a unit has a DynamicUser; by another user\'s it is not', async t => {
  const parent = shortFolder(t)
  const [own, link] = ['own', 'link'].map(name => path.join(parent, name))
  fs.mkdirSync(own)
  fs.writeFileSync(path.join(own, 'a.sock'), '')
  fs.symlinkSync(own, link)
  const found = () => allSockets({ RECYCLE_CONTROL_DIR: link })
  t.same(found(), [path.join(link, 'a.sock')])
  t.doesNotThrow(() => prepareFolder(link, 'x.sock'))
  fs.chmodSync(own, 0o777)
  t.same(found(), [])
  t.throws(() => prepareFolder(link, 'x.sock'), /other users may write to [^ ]+link \(mode 777\)/)
  if (uid !== 0) return
  fs.chmodSync(own, 0o700)
  fs.chownSync(own, 12345, 12345)
  t.same(found(), [path.join(link, 'a.sock')], 'root looks into another user\'s')
  fs.lchownSync(link, 54321, 54321)
  t.same(found(), [])
})

t.test('the path of a unix socket has 107 bytes', async t => {
  t.doesNotThrow(() => checkLength(`/${'x'.repeat(106)}`))
  t.throws(() => checkLength(`/${'x'.repeat(107)}`), { code: 'RECYCLE_CONTROL', message: /the path has 108 bytes; a unix socket allows 107$/ })
  t.throws(() => checkLength(`/${'ä'.repeat(54)}`), { message: /109 bytes/ })
})

t.test('a fleet is not searched for, by its name either, in a folder that another user can write', async t => {
  const parent = shortFolder(t)
  const own = path.join(parent, 'own')
  fs.mkdirSync(own, { mode: 0o700 })
  let asked = 0
  const server = net.createServer(socket => {
    asked++
    socket.end(encode({ hello: { name: 'api', pid: 1, app: '/app.js', version: '0' } }))
  }).listen(path.join(own, 'api.sock'))
  t.teardown(() => server.close())
  await once(server, 'listening')
  const env = { RECYCLE_CONTROL_DIR: own }
  t.match(await findFleet({ name: 'api' }, env), { name: 'api', pid: 1 })
  asked = 0

  const untrusted = async (/** @type {string} */ folder, /** @type {RegExp} */ message) => {
    await t.rejects(findFleet({ name: 'api' }, { RECYCLE_CONTROL_DIR: folder }), { code: 'RECYCLE_NO_FLEET', exitCode: 2, message })
    t.same(await listFleets({ RECYCLE_CONTROL_DIR: folder }), [])
  }
  fs.chmodSync(own, 0o777)
  await untrusted(own, /^there is no fleet named "api"; no fleet is running, .*; ignored: other users may write to \S+own \(mode 777\)$/)
  fs.chmodSync(own, 0o700)
  if (uid === 0) {
    fs.chownSync(own, 12345, 12345)
    t.match(await findFleet({ name: 'api' }, env), { name: 'api' }, 'root may')
    fs.chmodSync(own, 0o770)
    await untrusted(own, /; ignored: other users may write to \S+own \(mode 770\)$/)
    fs.chmodSync(own, 0o700)
    t.throws(() => prepareFolder(own, 'api.sock'), { code: 'RECYCLE_CONTROL', message: /belongs to another user \(uid 12345\)$/ }, 'no fleet of root is opened there')
    fs.chownSync(own, 0, 0)
    asked = 0
  }
  await t.rejects(findFleet({ name: '../own/api' }, env), { code: 'RECYCLE_NO_FLEET', message: /no fleet named "..\/own\/api"; running: api/ })
  t.equal(asked, 1, 'only for the list of the last one')
})
