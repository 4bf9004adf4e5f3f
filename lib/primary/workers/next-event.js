'use strict'

const { now } = require('../clock')

/**
 * Resolves at the first of these events, or when the time is up.
 *
 * @typedef {(heard: (value: unknown) => void) => void} Listen for what else is waited for, which is no event: it is to
 *   call `heard`
 *
 * @param {import('node:events').EventEmitter} emitter @param {string[]} events
 * @param {number} timeoutMs Infinity: no limit
 * @param {Listen} [listen] @returns {Promise<{ event: string | 'heard' | 'timeout', value?: any }>}
 */
function nextEvent (emitter, events, timeoutMs, listen) {
  return new Promise(resolve => {
    const settle = (/** @type {string} */ event, /** @type {unknown} */ value) => {
      clearTimeout(deadline)
      for (const [name, listener] of listeners) emitter.removeListener(name, listener)
      resolve({ event, value })
    }
    const until = now() + timeoutMs
    const expire = () => { // a timer runs while this process does not, and the clock does not
      const leftMs = until - now()
      if (leftMs > 0) deadline = setTimeout(expire, leftMs)
      else settle('timeout', undefined)
    }
    let deadline = timeoutMs === Infinity ? undefined : setTimeout(expire, Math.max(0, timeoutMs))
    const listeners = events.map(name =>
      /** @type {const} */ ([name, (/** @type {unknown} */ value) => settle(name, value)]))
    for (const [name, listener] of listeners) emitter.once(name, listener)
    listen?.(value => settle('heard', value))
  })
}

module.exports = { nextEvent }
