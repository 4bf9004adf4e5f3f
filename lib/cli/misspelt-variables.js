'use strict'

/** Environment variables that look like those of options, and are none: an app's own are silent. */

const { nearest } = require('../core/did-you-mean')
const { OPTIONS } = require('../tables/options')

const PREFIX = 'RECYCLE_'
/** Beside the options': those of the command line, and what recycle sets itself, which a process of an app inherits. */
const OTHERS = ['CONFIG', 'CONTROL_DIR', 'SLOT', 'WORKER_ID', 'WORKER', 'ORIGINAL', 'PREDECESSOR'].map(name =>
  PREFIX + name)

/** @param {Record<string, string | undefined>} env @returns {{ variable: string, meant: string }[]} */
function misspeltVariables (env) {
  const known = [...OPTIONS.map(option => option.env), ...OTHERS]
  const names = known.map(name => name.slice(PREFIX.length))
  const unknown = Object.keys(env).filter(variable => variable.startsWith(PREFIX) && !known.includes(variable))
  return unknown.flatMap(variable => {
    const meant = nearest(variable.slice(PREFIX.length), names)
    return meant === null ? [] : [{ variable, meant: PREFIX + meant }]
  })
}

module.exports = { misspeltVariables }
