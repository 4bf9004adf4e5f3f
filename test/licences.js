'use strict'

/**
 * npm run licences: the licences of all packages in the lockfile, those that users install first, and how many have
 * each. The exit code is 1 if one is not among those that are accepted, or if a package names none.
 */

const fs = require('node:fs')
const path = require('node:path')

/** For what users install: licences without a duty beyond naming the author. */
const PERMISSIVE = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'BlueOak-1.0.0', 'CC0-1.0', 'Unlicense', 'Python-2.0', 'CC-BY-4.0', 'MIT-0']
const TOOLS = [...PERMISSIVE, 'MPL-2.0', 'Zlib', 'CC-BY-3.0', 'Artistic-2.0'] // of programs that only run here

/** @param {string} expression as in SPDX @param {string[]} accepted @returns {boolean} */
function isAccepted (expression, accepted) {
  const text = expression.replace(/^\((.*)\)$/, '$1')
  if (/ OR /.test(text)) return text.split(/ OR /).some(part => isAccepted(part, accepted))
  return text.split(/ AND /).every(part => accepted.includes(part.trim()))
}

/**
 * By its old field, or its file: the lockfile has what a package names by the new field.
 *
 * @param {string} place below the root
 */
function licenceIn (place) {
  const folder = path.join(__dirname, '..', place)
  const { licenses = [] } = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'))
  if (licenses[0]?.type) return licenses[0].type
  const file = fs.readdirSync(folder).find(name => /^licen[cs]e/i.test(name))
  return file && /\bMIT\b/.test(fs.readFileSync(path.join(folder, file), 'utf8')) ? 'MIT' : 'none named'
}

const { packages } = JSON.parse(fs.readFileSync(path.join(__dirname, '..', 'package-lock.json'), 'utf8'))
const refused = []
for (const [title, isHere, accepted] of /** @type {[string, (about: any) => boolean, string[]][]} */ ([
  ['what users install', about => !about.dev && !about.devOptional, PERMISSIVE],
  ['tools', about => about.dev || about.devOptional, TOOLS]
])) {
  /** @type {Map<string, string[]>} */
  const by = new Map()
  for (const [place, about] of Object.entries(packages)) {
    if (place === '' || about.link || !isHere(about)) continue
    const name = place.split('node_modules/').at(-1)
    const licence = about.license ?? licenceIn(place)
    by.set(licence, [...by.get(licence) ?? [], `${name} ${about.version}`])
    if (!isAccepted(licence, accepted)) refused.push(`${name} ${about.version}: ${licence}`)
  }
  console.log(`${title}:`)
  for (const [licence, names] of [...by].sort(([, a], [, b]) => b.length - a.length)) console.log(`  ${licence.padEnd(24)}${String(names.length).padStart(4)}  ${title === 'tools' ? '' : names.join(', ')}`)
}
for (const line of refused) console.error(`not accepted: ${line}`)
process.exitCode = refused.length > 0 ? 1 : 0
