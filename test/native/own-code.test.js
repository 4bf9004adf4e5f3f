'use strict'

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')

const LIB = path.join(__dirname, '..', '..', 'lib')

/**
 * Runs a function in a process that loads this package, or a copy of it, as its processes do.
 * @param {(requireOwn: any, own: any, arg: any) => unknown} fn
 * @param {{ lib?: string, cache?: string | null,
 *   arg?: any }} [how]
 * @returns {any} what it returns, by JSON
 */
function inProcess (fn, { lib = LIB, cache = null, arg = null } = {}) {
  const script = `
    const vm = require('node:vm')
    globalThis.codes = {}
    vm.Script = class extends vm.Script {
      constructor (source, options) {
        super(source, options)
        globalThis.codes[options.filename] = options.cachedData ? !this.cachedDataRejected : null
      }
    }
    const own = require(${JSON.stringify(path.join(lib, 'native', 'own-code'))})
    own.openPack('worker', ${JSON.stringify(cache)})
    const requireOwn = own.requireIn(${JSON.stringify(lib)})
    process.stdout.write(JSON.stringify((${fn})(requireOwn, own, ${JSON.stringify(arg)}) ?? null))`
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }))
}

t.test("each file that one of ours requires is the one that Node.js finds, and the same instance as by Node's require()", async t => {
  /** @type {[string, string][]} */
  const requests = [['.', 'node:fs'], ['.', 'ms'], ['.', './missing'], ['core', '../../package.json']]
  for (const file of fs.readdirSync(LIB, { recursive: true }).map(String).filter(file => file.endsWith('.js'))) {
    const text = fs.readFileSync(path.join(LIB, file), 'utf8')
    for (const [, request] of text.matchAll(/\brequire\('(\.[^']*)'\)/g)) requests.push([path.dirname(file), request])
  }
  t.ok(requests.length > 500, `${requests.length}`)
  const different = inProcess((_, { requireIn }, { LIB, requests }) => {
    const path = require('node:path')
    const { createRequire } = require('node:module')
    const load = (/** @type {any} */ require, /** @type {string} */ request) => {
      try {
        return require(request)
      } catch (error) {
        return /** @type {any} */ (error).code
      }
    }
    return requests.filter((/** @type {string[]} */ [folder, request]) =>
      load(requireIn(path.join(LIB, folder)), request) !== load(createRequire(path.join(LIB, folder, 'x.js')), request))
  }, { arg: { LIB, requests: requests.filter(([folder]) => !folder.includes('browser')) } })
  t.same(different, [])
})

t.test('the next process has the compiled code of the one before, of files that have not changed', async t => {
  const cache = t.testdir({ cache: {}, lib: {} }) + '/cache'
  const lib = path.join(path.dirname(cache), 'lib')
  for (const folder of ['core', 'native']) fs.cpSync(path.join(LIB, folder), path.join(lib, folder), { recursive: true })
  fs.writeFileSync(path.join(lib, 'a.js'), "exports.is = [require('./core/units').count(1, 'word'), '→']")
  const run = () => inProcess((requireOwn, { saveOwnCode }) => {
    const { is } = requireOwn('./a')
    saveOwnCode()
    return { is, codes: Object.values(globalThis.codes).sort(), of: Object.keys(globalThis.codes) }
  }, { lib, cache })
  const first = run()
  t.same(first.is, ['1 word', '→'])
  t.same(new Set(first.codes), new Set([null]))
  const second = run()
  t.same({ ...second, codes: new Set(second.codes) }, { ...first, codes: new Set([true]) })
  const { atime, mtime } = fs.statSync(path.join(lib, 'a.js'))
  fs.writeFileSync(path.join(lib, 'a.js'), "exports.is = [require('./core/units').count(2, 'word'), '→']")
  fs.utimesSync(path.join(lib, 'a.js'), atime, mtime) // npm gives each file the same time
  const third = run()
  t.same([third.is, third.codes.filter((/** @type {any} */ code) => code === null).length], [['2 words', '→'], 1])
  t.same(new Set(run().codes), new Set([true]), 'the pack has it now')
  t.equal(fs.readdirSync(cache).length, 1)
})

t.test('packages come from the pack, too, as long as Node.js finds the same there', async t => {
  const folder = t.testdir({
    cache: {},
    lib: { 'a.js': "exports.is = require('ms')" },
    node_modules: {
      ms: {
        'package.json': '{ "exports": { ".": "./main.js" } }',
        'main.js': "module.exports = [require('./more.js').is]",
        'more.js': "exports.is = 'first'"
      }
    }
  })
  const lib = path.join(folder, 'lib')
  for (const name of ['core', 'native']) fs.cpSync(path.join(LIB, name), path.join(lib, name), { recursive: true })
  const run = () => inProcess((requireOwn, { saveOwnCode }, lib) => {
    const Module = /** @type {any} */ (require('node:module'))
    const { _resolveFilename } = Module
    let isAsked = false
    Module._resolveFilename = (/** @type {any[]} */ ...args) => {
      if (args[0] === 'ms') isAsked = true
      return _resolveFilename(...args)
    }
    const { is } = requireOwn('./a')
    saveOwnCode()
    return { is, isAsked, isSame: Module.createRequire(`${lib}/a.js`)('ms') === is, codes: Object.values(globalThis.codes) }
  }, { lib, cache: path.join(folder, 'cache'), arg: lib })
  const at = path.join(folder, 'node_modules', 'ms')
  t.match(run(), { is: ['first'], isAsked: true, isSame: true })
  t.match(run(), { is: ['first'], isAsked: false, isSame: true })
  t.same(new Set(run().codes), new Set([true]))
  fs.writeFileSync(path.join(at, 'other.js'), "module.exports = ['another file']")
  fs.writeFileSync(path.join(at, 'package.json'), '{ "exports": { ".": "./other.js" } }')
  t.match(run(), { is: ['another file'], isAsked: true, isSame: true })
  t.match(run(), { is: ['another file'], isAsked: false, isSame: true })
  // As by pnpm, whose links lead elsewhere then
  for (const copy of ['ms-2', 'ms-3']) fs.cpSync(at, path.join(folder, copy), { recursive: true })
  fs.rmSync(at, { recursive: true })
  fs.writeFileSync(path.join(folder, 'ms-3', 'other.js'), "module.exports = ['a third one']")
  fs.symlinkSync(path.join(folder, 'ms-2'), at)
  t.match(run(), { is: ['another file'], isSame: true })
  fs.unlinkSync(at)
  fs.symlinkSync(path.join(folder, 'ms-3'), at)
  t.match(run(), { is: ['a third one'], isSame: true })
})

t.test('code of other flags of V8 is not read, and not written where they change meanwhile', async t => {
  const cache = t.testdir({})
  /** @param {any} requireOwn @param {any} own @param {{ cache: string, flag: string | null }} arg */
  const loadTwo = (requireOwn, { openPack, saveOwnCode }, { cache, flag }) => {
    requireOwn('./core/units')
    if (flag !== null) require('node:v8').setFlagsFromString(flag)
    saveOwnCode()
    openPack('worker', cache)
    requireOwn('./core/window')
    saveOwnCode()
    return Object.values(globalThis.codes)
  }
  const run = (/** @type {string | null} */ flag) => inProcess(loadTwo, { cache, arg: { cache, flag } })
  const first = run('--max-lazy')
  t.ok(first.length > 1 && first.every((/** @type {any} */ code) => code === null))
  t.equal(fs.readdirSync(cache).length, 1, 'of the second pack alone')
  t.same(new Set(run(null)), new Set([null]), 'another one is for the flags as they are by default')
  t.equal(fs.readdirSync(cache).length, 2)
  t.same(new Set(run(null)), new Set([true]))
})

t.test('a file that throws is loaded anew by the next call', async t => {
  const folder = t.testdir({ 'a.js': "globalThis.calls ??= 0; throw new Error('call ' + ++globalThis.calls)" })
  const messages = inProcess((_, { requireIn }, folder) => [1, 2].map(() => {
    try {
      return requireIn(folder)('./a')
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }), { arg: folder })
  t.same(messages, ['call 1', 'call 2'])
})
