'use strict'

/**
 * V8 enlarges the young generation as objects survive in it, to three times 16 MB in the end, and a process that is never idle keeps
 * that. A primary, which sits beside its workers for weeks with 7 MB of live objects, stays at V8's first size; the other commands may grow.
 */

const v8 = require('node:v8')

const GROWTH = 2 // V8's default

function keepSmall () {
  v8.setFlagsFromString('--semi-space-growth-factor=1')
}

function mayGrow () {
  v8.setFlagsFromString(`--semi-space-growth-factor=${GROWTH}`)
}

module.exports = { keepSmall, mayGrow }
