'use strict'

/**
 * While modules load, most objects stay, for which V8 enlarges the young generation: 2 MB that a primary, which sits beside its
 * workers for weeks, does not need afterwards. So it begins without, and may grow as soon as its fleet is ready; other
 * commands may at once.
 */

const v8 = require('node:v8')

const GROWTH = 2 // V8's default

function begin () {
  v8.setFlagsFromString('--semi-space-growth-factor=1')
}

function end () {
  v8.setFlagsFromString(`--semi-space-growth-factor=${GROWTH}`)
}

module.exports = { begin, end }
