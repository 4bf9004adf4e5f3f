'use strict'

/** @param {import('../interface').WorkerKernel} kernel @returns {import('../interface').WorkerPart} */
function announceClose ({ channel, announceClose }) {
  channel.on({ 'announce-close': announceClose })
  return {}
}

module.exports = { announceClose }
