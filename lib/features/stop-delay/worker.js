'use strict'

/** @param {import('..').WorkerKernel} kernel @returns {import('..').WorkerPart} */
function announceClose ({ channel, announceClose }) {
  channel.on({ 'announce-close': announceClose })
  return {}
}

module.exports = { announceClose }
