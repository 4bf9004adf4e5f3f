'use strict'

/**
 * The stdout and stderr of this process, those of them that the app uses: Node makes each at its first use, and changes
 * the descriptor then. So each is noted at that moment, and made no sooner.
 */

const { Writable } = require('node:stream')
const { clearTimeout, setTimeout } = require('node:timers')

const FLUSH_MS = 1000 // of what a reader has not read yet
const GONE = ['EPIPE', 'ECONNRESET']

/**
 * @param {{ isPassedOn: boolean }} how the primary reads them: where it is killed, that must not end this process,
 *   which has requests in flight
 */
function watchStandardStreams ({ isPassedOn }) {
  /** @type {Writable[]} */
  const used = []
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    const own = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(process, name))
    Object.defineProperty(process, name, {
      ...own,
      get () {
        Object.defineProperty(process, name, own)
        const stream = process[name]
        used.push(stream)
        if (isPassedOn) stream.on('error', error => { if (!GONE.includes(error.code ?? '') && stream.listenerCount('error') === 1) throw error })
        return stream
      }
    })
  }
  return {
    /** Resolves when what the app has written has left this process, or after a second. */
    async flushed () {
      /** @type {NodeJS.Timeout | undefined} */
      let timer
      await Promise.race([
        Promise.all(used.map(flush)), new Promise(resolve => { timer = setTimeout(resolve, FLUSH_MS) })
      ])
      clearTimeout(timer)
    }
  }
}

/** Not by its own write(), which an app may have replaced. @param {Writable} stream */
function flush (stream) {
  return stream.writableLength > 0 && new Promise(resolve => Reflect.apply(Writable.prototype.write, stream, ['', resolve]))
}

module.exports = { watchStandardStreams }
