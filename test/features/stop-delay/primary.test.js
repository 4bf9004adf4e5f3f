'use strict'

const { EventEmitter } = require('node:events')
const { setTimeout } = require('node:timers/promises')
const t = require('tap')
const { delayStop } = require('../../../lib/features/stop-delay/primary')

/** @param {number} stopDelayMs */
function primary (stopDelayMs) {
  /** @type {any[]} */
  const lines = []
  const part = /** @type {any} */ (delayStop(/** @type {any} */ ({
    options: { stopDelayMs },
    now: () => performance.now(),
    record: (/** @type {string} */ event, /** @type {any} */ fields) => lines.push({ event, ...fields })
  })))
  const worker = () => {
    const handle = Object.assign(new EventEmitter(), {
      sent: /** @type {string[]} */ ([]), order: (/** @type {string} */ type) => handle.sent.push(type)
    })
    part.connect(handle)
    return handle
  }
  return { part, lines, worker }
}

t.test('workers that are ready are told, those that become ready too, and others not', async t => {
  const { part, lines, worker } = primary(100)
  const [ready, gone, boots] = [worker(), worker(), worker()]
  for (const handle of [ready, gone]) handle.emit('ready')
  gone.emit('exit')
  t.same(part.describe(), { leftMs: null })
  const done = part.beforeStop(new AbortController().signal)
  t.ok(part.describe().leftMs > 0 && part.describe().leftMs <= 100)
  boots.emit('ready')
  t.same([ready, gone, boots].map(({ sent }) => sent), [['announce-close'], [], ['announce-close']])
  t.same(lines, [{ event: 'fleet.stop-delay', delayMs: 100 }])
  await done
  t.same(part.describe(), { leftMs: null })
})

t.test('a stop that is hurried waits no longer', async t => {
  const { part } = primary(60_000)
  const hurried = new AbortController()
  const done = part.beforeStop(hurried.signal)
  await setTimeout(5)
  hurried.abort()
  await done
  t.same(part.describe(), { leftMs: null })
})
