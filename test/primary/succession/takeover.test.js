'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { message } = require('../../../lib/core/envelope')
const { Takeover } = require('../../../lib/primary/succession/takeover')

const BEGIN = { addresses: ['a'], workers: null }

/** A successor, and what its predecessor says and is told. */
function successor () {
  const sent = /** @type {string[]} */ ([])
  const inherited = /** @type {string[]} */ ([])
  const process = Object.assign(new EventEmitter(), {
    pid: 7,
    release () {},
    send (/** @type {any} */ { type }, /** @type {any} */ _, /** @type {() => void} */ done) {
      sent.push(type)
      setImmediate(done)
    }
  })
  const takeover = new Takeover(/** @type {any} */ (process))
  const says = (/** @type {string} */ type, /** @type {Record<string, any>} */ fields, /** @type {any} */ handle) => process.emit('message', message(type, fields), handle)
  const exits = () => process.emit('exit', { code: null, signal: null })
  const greet = () => takeover.greet(/** @type {any} */ ({
    legacy: { inherit: (/** @type {any} */ { text }) => inherited.push(text) }, options: { readyTimeoutMs: 1000 }
  }))
  return { takeover, sent, inherited, says, exits, greet }
}

t.test('it has begun when all sockets have come, or none will: the other primary does without it or has exited, or this one fails', async t => {
  for (const [
    how, why, act
  ] of /** @type {[string, string | null, (about: ReturnType<typeof successor>) => void][]} */ ([
      ['begin', null, ({ says }) => says('begin', BEGIN)],
      ['abort', 'as told', ({ says }) => says('abort', { why: 'as told' })],
      ['exit', 'the old primary has exited', ({ exits }) => exits()],
      ['fail', null, ({ takeover }) => takeover.fail('its app is not there')]
    ])) {
    const about = successor()
    let hasBegun = false
    const begun = about.takeover.begun.then(() => { hasBegun = true })
    await new Promise(resolve => setImmediate(resolve))
    t.notOk(hasBegun)
    act(about)
    await begun
    t.equal(about.takeover.why, why, how)
  }
})

t.test('one that leads asks for what the other one leaves, and for the sockets to be closed, and waits for the answer or the end', async t => {
  const about = successor()
  const { takeover, sent, inherited, says } = about
  about.greet()
  says('begin', BEGIN)
  takeover.prepared()
  says('legacy', { feature: 'a', text: 'one' })
  says('go', { workers: null })
  t.equal(takeover.isLeading, true)
  const asked = takeover.askLegacy()
  says('legacy', { feature: 'a', text: 'two' })
  t.equal(await Promise.race([asked.then(() => 'all'), new Promise(resolve => setImmediate(resolve, 'more'))]), 'more')
  says('legacy', { feature: 'b', text: 'three', isLast: true })
  await asked
  const stopping = takeover.stopping()
  says('stopping', {})
  await stopping
  t.same(sent, ['hello', 'prepared', 'legacy', 'stopping'])
  t.same(inherited, ['one', 'two', 'three'])
  const left = takeover.stopping()
  says('left', {})
  await left
  t.equal(takeover.isSole, true)
})
