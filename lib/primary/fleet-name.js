'use strict'

/** The name of a fleet where it has been given no name: after its app. */

const fs = require('node:fs')
const path = require('node:path')
const { attempt } = require('../core/attempt')
const { fileAsNamed } = require('./workers/app-path')

const SAYS_NOTHING = ['index', 'server', 'app', 'main', 'start', 'cluster', 'www', 'cli', 'mod', 'bin', 'run']
const FOLDERS = ['bin', '.bin', 'dist', 'build', 'lib', 'src', 'node_modules', 'current'] // as little
const MAX_LENGTH = 64

/**
 * @param {string} named absolute path of the app, by the links that lead to a release: the next one has the same name
 * @returns {string} the file's name, or where that says nothing, or the file is that of a package in node_modules, the
 *   name in the nearest package.json, or else the folder's; in the characters of --name
 */
function nameOfApp (named) {
  const app = attempt(() => fileAsNamed(named), named)
  const file = path.basename(app).replace(/(?<=.)\.[^.]*$/, '')
  const folders = path.dirname(app).split(path.sep)
  const isOfPackage = folders.includes('node_modules') && folders.at(-1) !== '.bin'
  if (!isOfPackage && !SAYS_NOTHING.includes(file)) return tidy(file)
  return tidy(nameInPackage(path.dirname(app)) ?? folders.findLast(folder => !FOLDERS.includes(folder)) ?? '')
}

/** @param {string} folder @returns {string | null} without its scope */
function nameInPackage (folder) {
  for (let at = folder; ; at = path.dirname(at)) {
    const { name } = attempt(() => Object(JSON.parse(fs.readFileSync(path.join(at, 'package.json'), 'utf8'))), {})
    if (typeof name === 'string' && name !== '') return name.replace(/^@[^/]*\//, '')
    if (at === path.dirname(at)) return null
  }
}

/** @param {string} text */
const tidy = text => text.replace(/[^\w.-]+/g, '-').replace(/^[._-]+|-+$/g, '').slice(0, MAX_LENGTH) || 'app'

module.exports = { nameOfApp }
