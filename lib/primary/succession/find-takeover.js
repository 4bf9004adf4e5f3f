'use strict'

const { PredecessorProcess } = require('./primary-process')

/** @returns {import('./takeover').Takeover | null} null: this process has no predecessor, and loads no more of this */
function findTakeover () {
  const predecessor = PredecessorProcess.find()
  return predecessor && new (require('./takeover').Takeover)(predecessor)
}

module.exports = { findTakeover }
