'use strict'

/** Required before a test: the file that MUTANT names (JSON: file, start, end, with) is loaded with that change. Nothing is written to it. */

const fs = require('node:fs')
const Module = require('node:module')

const { file, start, end, with: replacement } = JSON.parse(String(process.env.MUTANT))
const load = Reflect.get(Module, '_extensions')['.js']

Reflect.get(Module, '_extensions')['.js'] = (/** @type {any} */ module, /** @type {string} */ filename) => {
  if (filename !== file) return load(module, filename)
  const source = fs.readFileSync(filename, 'utf8')
  module._compile(source.slice(0, start) + replacement + source.slice(end), filename)
}
