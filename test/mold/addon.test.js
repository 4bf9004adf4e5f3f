'use strict'

const path = require('node:path')
const t = require('tap')
const { loadAddon, PREBUILT } = require('../../lib/mold/addon')
const { sourceHash } = require('../../lib/mold/addon/source')

const isPrebuiltHere = process.platform === 'linux' && process.arch === 'x64' && process.report.getReport().header.glibcVersionRuntime

t.test('the prebuilt addon is made of the source beside it', { skip: !isPrebuiltHere && 'it is for another machine' }, async t => {
  const { addon } = loadAddon({ files: [PREBUILT] })
  t.equal(addon.source, sourceHash(path.join(__dirname, '..', '..', 'lib', 'mold', 'addon')), 'else: npm run prebuild:addon')
})

t.test('where there is none, a sentence says so', async t => {
  t.same(loadAddon({ platform: 'darwin' }), { addon: null, missing: 'workers can be forked on Linux alone, and this is darwin' })
  t.match(loadAddon({ platform: 'linux', files: [path.join(__dirname, 'none.node')] }).missing, /^there is no addon that forks workers for \w+-\w+; npm run build:addon, in the package's folder, builds it$/)
  const file = path.join(t.testdir({ 'broken.node': 'not a library' }), 'broken.node')
  t.match(loadAddon({ platform: 'linux', files: [file] }).missing, /^the addon that forks workers cannot be loaded: .*broken\.node.*; npm run build:addon/)
})

t.test('a datagram goes to the socket of that path, or is refused by name', { skip: !isPrebuiltHere && 'it is for another machine' }, async t => {
  const { addon } = loadAddon({ files: [PREBUILT] })
  for (const [socket, code] of [['/nowhere', 'ENOENT'], ['@nowhere-at-all', 'ECONNREFUSED'], ['', 'EINVAL'], ['/'.repeat(200), 'ENAMETOOLONG']]) {
    t.throws(() => addon.notify(socket, 'READY=1'), { code }, socket.slice(0, 20))
  }
  t.throws(() => addon.notify('/nowhere', 'x'.repeat(40_000)), { code: 'EMSGSIZE' })
})
