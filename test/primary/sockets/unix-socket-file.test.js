'use strict'

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { becomesTrue } = require('../../support/processes')
const { UnixSocketFile } = require('../../../lib/primary/sockets/unix-socket-file')

/** @param {any} t tap's @returns {Promise<{ folder: string, file: string }>} the file of a socket that listens */
async function listen (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  const file = path.join(folder, 'web')
  const server = net.createServer().listen(file)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  return { folder, file }
}

t.test('a second name of another socket, left there by a fleet that was killed, is replaced', async t => {
  const { file } = await listen(t)
  fs.writeFileSync(`${file}.recycle`, '')
  const socketFile = new UnixSocketFile(file)
  t.teardown(() => socketFile.letGo())
  t.equal(fs.statSync(`${file}.recycle`).ino, fs.statSync(file).ino)
})

t.test('two fleets listen on one inherited socket: when one ends, the other still gives the file back', async t => {
  const { folder, file } = await listen(t)
  const { ino } = fs.statSync(file)
  const [ends, stays] = [new UnixSocketFile(file), new UnixSocketFile(file)]
  ends.leave()
  t.ok(await becomesTrue(() => fs.existsSync(`${file}.recycle`)), 'the second name is back')
  fs.rmSync(file)
  t.ok(await becomesTrue(() => fs.existsSync(file)), 'and gives the first one back')
  t.equal(fs.statSync(file).ino, ino)
  stays.leave()
  t.same(fs.readdirSync(folder), ['web'])
})

t.test('two primaries give a name back at once, whichever is the faster at each step: neither warns', async t => {
  for (const lost of ['', '.recycle']) {
    for (let step = 1, isOver = false; !isOver; step++) {
      const { folder, file } = await listen(t)
      const [one, other] = [new UnixSocketFile(file), new UnixSocketFile(file)]
      for (const each of [one, other]) each.letGo() // no watching: each step is made here
      /** @type {string[]} */
      const said = []
      for (const each of [one, other]) each.report(why => said.push(why))
      fs.rmSync(file + lost)
      isOver = before(step, () => other.restore(), () => one.restore())
      t.same(said, [], `${lost || 'the first'} name, the other before call ${step}`)
      t.same(fs.readdirSync(folder), ['web', 'web.recycle'])
    }
  }
})

t.test('the same where hard links are refused', async t => {
  const { linkSync } = fs
  t.teardown(() => { fs.linkSync = linkSync })
  fs.linkSync = () => { throw Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' }) }
  /** @type {Record<string, (file: string) => void>} */
  const begins = {
    'the first name is gone': file => fs.rmSync(file),
    'there is no second name yet': file => fs.renameSync(`${file}.recycle`, file)
  }
  for (const [what, begin] of Object.entries(begins)) {
    for (let step = 1, isOver = false; !isOver; step++) {
      const { folder, file } = await listen(t)
      const { ino } = fs.statSync(file)
      const [one, other] = [new UnixSocketFile(file), new UnixSocketFile(file)]
      for (const each of [one, other]) each.letGo()
      /** @type {string[]} */
      const said = []
      for (const each of [one, other]) each.report(why => said.push(why))
      begin(file)
      isOver = before(step, () => other.restore(), () => one.restore())
      t.same(said, [], `${what}, the other before call ${step}`)
      t.same(fs.readdirSync(folder), ['web', 'web.recycle'])
      t.same([file, `${file}.recycle`].map(name => fs.statSync(name).ino), [ino, ino])
    }
  }
})

/**
 * Before the nth call of `run` to the file system it has `act` done.
 *
 * @param {number} n @param {() => void} act @param {() => void} run
 * @returns {boolean} there were fewer calls
 */
function before (n, act, run) {
  const NAMES = /** @type {const} */ (['statSync', 'linkSync', 'existsSync', 'symlinkSync'])
  const real = NAMES.map(name => fs[name])
  let calls = 0
  const patch = (/** @type {Function[]} */ functions) =>
    NAMES.forEach((name, i) => { /** @type {any} */ (fs)[name] = functions[i] })
  patch(real.map(call => (/** @type {any[]} */ ...args) => {
    if (++calls === n) {
      patch(real)
      act()
    }
    return call(...args)
  }))
  run()
  patch(real)
  return calls < n
}

t.test('at its end a fleet that has bound the socket itself removes both names, and leaves those of another', async t => {
  const { folder, file } = await listen(t)
  new UnixSocketFile(file).remove()
  t.same(fs.readdirSync(folder), [])
  const other = await listen(t)
  const socketFile = new UnixSocketFile(other.file)
  fs.rmSync(`${other.file}.recycle`)
  fs.renameSync(other.file, `${other.file}-moved`)
  fs.writeFileSync(other.file, 'of another')
  socketFile.remove()
  t.equal(fs.readFileSync(other.file, 'utf8'), 'of another')
})

t.test('of a busy folder only its own names are looked at', async t => {
  const { folder, file } = await listen(t)
  const socketFile = new UnixSocketFile(file)
  t.teardown(() => socketFile.letGo())
  let looks = 0
  const restore = socketFile.restore.bind(socketFile)
  socketFile.restore = () => {
    looks++
    restore()
  }
  for (let i = 0; i < 50; i++) fs.writeFileSync(path.join(folder, `other-${i}`), '')
  fs.rmSync(file)
  t.ok(await becomesTrue(() => fs.existsSync(file)))
  t.ok(looks > 0 && looks < 10, `${looks} looks`)
})
