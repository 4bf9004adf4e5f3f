'use strict'

/**
 * In a worker: asks for the lease when the app has called onLease(), and gives it back when this worker drains and the
 * app has ended its work.
 */

/** @param {import('../interface').WorkerKernel} kernel */
function takeLease ({ channel, onDrain, callApp }) {
  /** Called with the lease. @type {((about: { slot: number }) => unknown)[]} */
  const waiting = []
  /** The function that ends the app's work, as it has returned it. @type {unknown[]} */
  const ends = []
  /** @type {number | null} */
  let slot = null
  let isOver = false
  let isGivenBack = false

  channel.on({
    lease (lease) {
      if (isOver) return channel.send('lease', { isOver }) // it drains since
      slot = lease.slot
      for (const fn of waiting.splice(0)) begin(fn, lease.slot)
    }
  })

  async function giveBack () {
    isOver = true
    const ended = await Promise.allSettled(ends.map(async returned => {
      const end = await returned
      if (typeof end !== 'function') throw new Error('its work ends with this process')
      await callApp('onLease', () => end())
    }))
    if (slot === null || ended.some(({ status }) => status !== 'fulfilled')) return
    isGivenBack = true
    channel.send('lease', { isOver })
  }

  /** @param {(about: { slot: number }) => unknown} fn @param {number} slot */
  function begin (fn, slot) {
    ends.push(callApp('onLease', () => fn({ slot })))
  }

  return {
    adopted () {
      if (slot !== null && !isGivenBack) channel.send('lease', { held: slot })
      else if (waiting.length > 0 && !isOver) channel.send('lease')
      else channel.send('lease', { isOver: true })
    },
    api: {
      onLease (/** @type {(about: { slot: number }) => unknown} */ fn) {
        if (isOver) return
        if (slot !== null) return begin(fn, slot)
        if (waiting.push(fn) > 1) return // it has asked
        onDrain(giveBack)
        channel.send('lease')
      }
    }
  }
}

module.exports = { part: takeLease }
