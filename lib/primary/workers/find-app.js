'use strict'

/** The app's file, and what shows that it is no JavaScript: each worker would die of a SyntaxError. */

const fs = require('node:fs')
const { wrap } = require('node:module')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { RecycleError, badUsage } = require('../../core/errors')
const { formatValue } = require('../../core/format-value')
const { primaryBranchIn } = require('../../core/start-failure')
/** @import { PrimaryBranch } from '../../core/start-failure' */

// In the first line of a program
const RUNS_JAVASCRIPT = /node|deno|bun|coffee|zx|[jt]sx?\b/i
const SHELL = /sh\b/ // which may give the file on to node: then the rest is JavaScript
const HEAD_BYTES = 4096
const MOST_BYTES = 1024 * 1024

/**
 * @param {string} app a path, as `node` takes it @returns {string} absolute
 * @throws {RecycleError} RECYCLE_NO_APP; RECYCLE_BAD_USAGE where it is no JavaScript
 */
function findApp (app) {
  if (app === '') throw new RecycleError('RECYCLE_NO_APP', { app: '""', why: 'it has no name' })
  const file = resolve(app)
  const why = foreign(file)
  if (why !== null) {
    throw badUsage(
      `${app} is not JavaScript: ${why}; write recycle <file>, with the JavaScript file of the server itself`)
  }
  return file
}

/** @param {string} app @returns {string} @throws {RecycleError} RECYCLE_NO_APP */
function resolve (app) {
  try {
    const file = require.resolve(path.resolve(app))
    fs.accessSync(file, fs.constants.R_OK)
    if (!fs.statSync(file).isFile()) throw new Error('it is not a regular file')
    return file
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const why = code === 'MODULE_NOT_FOUND' ? missing(path.resolve(app)) : message.split('\n')[0]
    throw new RecycleError('RECYCLE_NO_APP', { app, why })
  }
}

/** @param {string} file */
const missing = file => fs.existsSync(file) ? 'it is a folder without an index.js' : 'there is no such file'

/** @param {string} file @returns {string | null} what it is; null: nothing shows that it is no JavaScript */
function foreign (file) {
  if (file.endsWith('.node')) return null
  if (file.endsWith('.json')) return 'it is data'
  const head = headOf(file)
  if (head.includes(0)) return 'it is a binary file'
  const [line] = head.toString().split('\n', 1)
  if (!file.endsWith('.sh') && (!line.startsWith('#!') || RUNS_JAVASCRIPT.test(line))) return null
  if (SHELL.test(line) && isScript(fs.readFileSync(file, 'utf8'))) return null
  return `its first line is ${formatValue(line.trim())}`
}

/** @param {string} app as findApp() @returns {PrimaryBranch | null} null: there is none, or the file is too long */
const primaryBranchOf = app => attempt(() => {
  const file = resolve(app)
  return fs.statSync(file).size > MOST_BYTES ? null : primaryBranchIn(fs.readFileSync(file, 'utf8'))
}, null) // it has been found before, and may be gone

/** @param {string} file */
function headOf (file) {
  const descriptor = fs.openSync(file, 'r')
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    return head.subarray(0, fs.readSync(descriptor, head, 0, HEAD_BYTES, 0))
  } finally {
    fs.closeSync(descriptor)
  }
}

/** @param {string} source @returns {boolean} whether it parses as CommonJS */
const isScript = source =>
  attempt(() => Boolean(new (require('node:vm').Script)(wrap(source.replace(/^#!.*/, '')))), false)

module.exports = { findApp, isScript, primaryBranchOf }
