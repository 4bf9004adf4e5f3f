'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { loadAddon } = require('../../lib/native/addon')
const { sourceHash } = require('../prebuild')
const { loadInterrupt } = require('../../lib/features/blocked/interrupt')
const { ARCHS, LIBCS, libcOf, prebuiltFile } = require('../../lib/native/prebuilds')

const LIB = path.join(__dirname, '..', '..', 'lib')
const ADDONS = [path.join(LIB, 'native', 'addon'), path.join(LIB, 'features', 'blocked', 'addon')]
const MACHINES = { x64: 62, arm64: 183 } // EM_X86_64, EM_AARCH64

for (const folder of ADDONS) {
  for (const arch of ARCHS) {
    for (const libc of LIBCS) {
      t.test(`${path.relative(LIB, folder)}: the prebuilt addon for linux-${arch} with ${libc} is made of the source beside it, and needs no C library's own names`, async t => {
        const binary = fs.readFileSync(prebuiltFile(folder, arch, libc))
        t.equal(binary.readUInt16LE(18), MACHINES[arch])
        t.equal(binary.includes(sourceHash(folder)), true, 'else: npm run prebuild:addon')
        for (const name of ['GLIBC_', '__isoc', '_chk\0', 'libc.']) t.equal(binary.includes(name), false, name)
      })
    }
  }
}

t.test('on this machine they can be loaded', { skip: !(process.platform === 'linux' && ARCHS.includes(process.arch)) && 'it has none' }, async t => {
  for (const [load, folder] of [[loadAddon, ADDONS[0]], [loadInterrupt, ADDONS[1]]]) {
    const { addon, missing } = load([prebuiltFile(folder)])
    t.equal(missing, null)
    t.equal(addon?.source, sourceHash(folder))
  }
})

t.test('where there is none, a sentence says so', async t => {
  for (const load of [loadAddon, loadInterrupt]) {
    t.same(load([prebuiltFile(ADDONS[0])], 'darwin'), { addon: null, missing: 'the addon is for Linux alone, and this is darwin' })
    t.match(load([path.join(__dirname, 'none.node')], 'linux').missing, /^there is no addon for linux-\w+; npm run build:addon, in the package's folder, builds one$/)
    const file = path.join(t.testdir({ 'broken.node': 'not a library' }), 'broken.node')
    t.match(load([file], 'linux').missing, /^the addon cannot be loaded: .*broken\.node.*; npm run build:addon/)
  }
})

t.test('a file that does not load leaves the next one to be tried', { skip: loadAddon().missing ?? false }, async t => {
  const file = path.join(t.testdir({ 'broken.node': 'not a library' }), 'broken.node')
  t.equal(loadAddon([file, prebuiltFile(ADDONS[0])]).missing, null)
})

t.test('the C library is known by the loader that a program names, or by the report', async t => {
  const program = (/** @type {string} */ loader) => `\x7fELF${'\0'.repeat(700)}${loader}\0`
  const folder = t.testdir({ alpine: program('/lib/ld-musl-aarch64.so.1'), debian: program('/lib64/ld-linux-x86-64.so.2') })
  t.equal(libcOf(path.join(folder, 'alpine')), 'musl')
  t.equal(libcOf(path.join(folder, 'debian')), 'glibc')
  t.equal(libcOf(path.join(folder, 'none')), libcOf(process.execPath))
})

t.test('installing the package compiles nothing and runs nothing', async t => {
  const root = path.join(LIB, '..')
  const { scripts, os, cpu, dependencies } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) t.notOk(name in scripts, name)
  t.same({ os, cpu }, { os: undefined, cpu: undefined }, 'it installs everywhere')
  t.notOk(fs.existsSync(path.join(root, 'binding.gyp')), 'npm would run node-gyp')
  for (const name of Object.keys(dependencies)) t.notOk(fs.existsSync(path.join(root, 'node_modules', name, 'binding.gyp')), name)
})

t.test('a datagram goes to the socket of that path, or is refused by name', { skip: loadAddon().missing ?? false }, async t => {
  const { addon } = loadAddon()
  for (const [socket, code] of [['/nowhere', 'ENOENT'], ['@nowhere-at-all', 'ECONNREFUSED'], ['', 'EINVAL'], ['/'.repeat(200), 'ENAMETOOLONG']]) {
    t.throws(() => addon.notify(socket, 'READY=1'), { code }, socket.slice(0, 20))
  }
  t.throws(() => addon.notify('/nowhere', 'x'.repeat(40_000)), { code: 'EMSGSIZE' })
})

t.test('which process has a connection is noted with its socket, for all descriptors of that', { skip: loadAddon().missing ?? false }, async t => {
  const { addon } = loadAddon()
  const [ours, theirs] = addon.socketpair()
  const [connection, client] = addon.socketpair()
  addon.send(ours, 'a connection', [connection])
  const { descriptors: [copy] } = addon.receive(theirs)
  t.teardown(() => { for (const fd of [ours, theirs, connection, client, copy]) fs.closeSync(fd) })
  t.same([connection, client].map(addon.owner), [0, 0])
  addon.own(copy, process.ppid)
  t.same([connection, copy, client].map(addon.owner), [process.ppid, process.ppid, 0])
  addon.own(connection, 2 ** 22 + 1) // no pid is larger than 2 ** 22
  t.equal(addon.owner(copy), process.ppid)
})
