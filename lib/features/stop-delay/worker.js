'use strict'

/** @param {import('../interface').WorkerKernel} kernel @returns {import('../interface').WorkerPart} */
function announceClose ({ channel, emptying }) {
  channel.on({ 'announce-close': () => emptying.closeNotice.beginForGood() })
  return {}
}

module.exports = { part: announceClose }
