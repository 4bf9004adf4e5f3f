'use strict'

const fs = require('node:fs')
const path = require('node:path')

/** Of the journal's lines, by event, as lib/lines.d.ts has them. @returns {Map<string, string[]>} */
function lineFields () {
  const types = fs.readFileSync(path.join(__dirname, '..', '..', 'lib', 'lines.d.ts'), 'utf8')
  return new Map([...types.matchAll(/^ {2}'?([\w.-]+)'?: \{ (.*)\}$/gm)].map(([, event, list]) => [event, namesIn(list)]))
}

/** @param {string} list of fields, whose types may have fields, too */
function namesIn (list) {
  let depth = 0
  const outer = [...list].filter(char => {
    if (/[{(<]/.test(char)) depth++
    if (/[})>]/.test(char)) depth--
    return depth === 0
  }).join('')
  return [...outer.matchAll(/(?:^|, )'?(\w+)'?\??: /g)].map(([, name]) => name)
}

module.exports = { lineFields }
