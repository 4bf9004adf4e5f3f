'use strict'

const t = require('tap')
const { fileOf, fold, kindOf } = require('../../../lib/features/leak-line/frames')

const AT = { app: '/srv/shop/app.js', own: '/srv/shop/node_modules/recycle-supervisor/' }

/** @param {string} kinds a: app, p: package, n: node, g: generated; from the outermost inwards */
function stack (kinds) {
  const names = /** @type {Record<string, any>} */ ({ a: 'app', p: 'package', n: 'node', g: 'generated' })
  return [...kinds].map((kind, i) => ({ name: `f${i}`, file: '/x.js', line: i, column: 1, kind: names[kind] }))
}

t.test('files of the app, of packages, of Node.js and of recycle', async t => {
  for (const [file, kind] of [
    ['/srv/shop/app.js', 'app'], ['/srv/other.js', 'app'], ['/srv/shop/node_modules/pg/index.js', 'package'], ['node:internal/timers', 'node'], ['', 'node'], ['wasm://wasm/1', 'node'],
    ['evalmachine.<anonymous>', 'node'], ['/srv/shop/node_modules/recycle-supervisor/lib/worker/enter.js', 'package']
  ]) t.equal(kindOf(file, AT), kind, file)
  t.equal(kindOf('/opt/recycle/lib/worker/enter.js', { ...AT, own: '/opt/recycle/' }), 'package', 'recycle beside the app')
})

t.test('an app that lies in a package is the app; what it depends on is not', async t => {
  const at = { ...AT, app: '/usr/lib/node_modules/@acme/shop/bin/serve.js' }
  t.equal(kindOf('/usr/lib/node_modules/@acme/shop/lib/cart.js', at), 'app')
  t.equal(kindOf('/usr/lib/node_modules/@acme/shop/node_modules/pg/index.js', at), 'package')
  t.equal(kindOf('/usr/lib/node_modules/pg/index.js', at), 'package')
})

t.test('a url is a path, where it is a file', async t => {
  t.equal(fileOf('file:///srv/a%20b.mjs'), '/srv/a b.mjs')
  t.equal(fileOf('/srv/a.js'), '/srv/a.js')
  t.equal(fileOf('node:http'), 'node:http')
  t.equal(fileOf('file://%%%'), 'file://%%%')
})

t.test('what is named: the innermost function of the app, else of a package, else any', async t => {
  t.same(fold(stack('aaa')), { at: 2, callers: [1, 0], by: null })
  t.same(fold(stack('napaap')), { at: 4, callers: [3, 1], by: 5 })
  t.same(fold(stack('anpn')), { at: 0, callers: [], by: 2 }, 'the package that allocates, and not Node.js below it')
  t.same(fold(stack('ann')), { at: 0, callers: [], by: 1 }, 'of Node.js what the app has called')
  t.same(fold(stack('npn')), { at: 1, callers: [], by: 2 })
  t.same(fold(stack('nn')), { at: 1, callers: [], by: null })
  t.same(fold(stack('aag')), { at: 1, callers: [0], by: null }, 'what a compiler has added is folded')
  t.equal(fold(stack('g')), null)
  t.equal(fold([]), null)
})

t.test('with nothing folded it is the innermost one of all', async t => {
  t.same(fold(stack('anpn'), true), { at: 3, callers: [2, 1], by: null })
})
