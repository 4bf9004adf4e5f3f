'use strict'

/** A CPU profile of this worker, taken while it serves. */

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { clearTimeout, setTimeout } = require('node:timers')

/** @param {import('../channel').Channel} channel */
function offerProfile (channel) {
  let isUnderWay = false
  channel.answer({
    profile ({ durationMs, file }, answer) {
      if (isUnderWay) return answer({ why: 'another profile is being taken' })
      isUnderWay = true
      take(durationMs, file, outcome => {
        isUnderWay = false
        answer(outcome)
      })
    }
  })
}

/**
 * Ends early where this worker drains, which may exit soon: so everything is synchronous, as a session of the own
 * thread calls back within post().
 * @param {number} durationMs @param {string} file absolute, there already and empty
 * @param {(outcome: import('../../messages').Answered<'profile'>) => void} done
 */
function take (durationMs, file, done) {
  const session = new (require('node:inspector').Session)()
  const began = performance.now()
  const end = () => {
    clearTimeout(timer)
    process.removeListener('recycle:drain', end)
    session.post('Profiler.stop', (error, result) => done(error ? { why: error.message } : keep(result.profile)))
    session.disconnect()
  }
  const keep = (/** @type {object} */ profile) => {
    const tookMs = performance.now() - began
    try {
      fs.writeFileSync(file, JSON.stringify(profile))
      return { why: null, tookMs, bytes: fs.statSync(file).size }
    } catch (error) {
      return { why: /** @type {Error} */ (error).message }
    }
  }
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.start')
  const timer = setTimeout(end, durationMs)
  process.once('recycle:drain', end)
}

module.exports = { offerProfile }
