'use strict'

const fs = require('node:fs')
const Module = /** @type {any} */ (require('node:module'))
const path = require('node:path')
const t = require('tap')
const { findOwnFiles } = require('../../lib/native/own-files')

const LIB = path.join(__dirname, '..', '..', 'lib')

t.test('every file that one of ours requires is found as Node.js finds it, and others are left to it', async t => {
  const folder = t.testdir({ 'a.js': '', b: { 'index.js': '' } })
  /** @type {[string, any][]} */
  const requests = [['./a', folder], ['./b', folder], ['ms', LIB], ['node:fs', LIB], ['./missing', LIB]]
    .map(([request, from]) => [request, parentIn(from)])
  for (const file of fs.readdirSync(LIB, { recursive: true }).map(String).filter(file => file.endsWith('.js'))) {
    const text = fs.readFileSync(path.join(LIB, file), 'utf8')
    for (const [, request] of text.matchAll(/\brequire\('(\.[^']*)'\)/g)) {
      requests.push([request, parentIn(path.dirname(path.join(LIB, file)))])
    }
  }
  const resolve = Module._resolveFilename
  const found = () => requests.map(([request, parent]) => {
    try {
      return Module._resolveFilename(request, parent, false)
    } catch (error) {
      return /** @type {any} */ (error).code
    }
  })
  const expected = found()
  const restore = findOwnFiles()
  t.not(Module._resolveFilename, resolve)
  t.same(found(), expected)
  restore()
  t.equal(Module._resolveFilename, resolve)
  t.ok(requests.length > 500 && expected.filter(file => file === 'MODULE_NOT_FOUND').length < 3, `${requests.length}`)
})

t.test('ours are read at once, others by Node.js', t => {
  const read = Module._extensions['.js']
  /** @type {string[]} */
  const others = []
  t.teardown(() => { Module._extensions['.js'] = read })
  const byOther = Module._extensions['.js'] = (/** @type {any} */ module, /** @type {string} */ file) => {
    others.push(file)
    read(module, file)
  }
  const restore = findOwnFiles()
  const own = path.join(LIB, 'core', 'attempt.js')
  const other = path.join(t.testdir({ 'a.js': 'module.exports = require.main === module' }), 'a.js')
  delete require.cache[own]
  t.equal(require(own).attempt(() => 1, 2), 1)
  t.equal(require(other), false)
  t.same(others, [other])
  restore()
  t.equal(Module._extensions['.js'], byOther)
  t.end()
})

t.test("another's resolver and reader stay where they have come behind", t => {
  const { _resolveFilename: resolve, _extensions: { '.js': read } } = Module
  t.teardown(() => {
    Module._resolveFilename = resolve
    Module._extensions['.js'] = read
  })
  const restore = findOwnFiles()
  const other = Module._resolveFilename = () => 'other'
  const reader = Module._extensions['.js'] = () => {}
  restore()
  t.equal(Module._resolveFilename, other)
  t.equal(Module._extensions['.js'], reader)
  t.end()
})

/** @param {string} folder */
function parentIn (folder) {
  return { ...new Module(path.join(folder, 'parent.js')), filename: path.join(folder, 'parent.js'), path: folder, paths: Module._nodeModulePaths(folder) }
}
