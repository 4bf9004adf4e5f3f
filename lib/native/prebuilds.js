'use strict'

/**
 * Loads an addon of this package: one that was built here, or the one that came with the package. The folders are those
 * of node-gyp and of prebuildify; N-API is the same in every Node, so one file for each architecture and C library is
 * enough.
 */

const fs = require('node:fs')
const path = require('node:path')

const ARCHS = ['x64', 'arm64']
const LIBCS = ['glibc', 'musl']
const INTERPRETER_WITHIN = 4096 // bytes of a program: its loader's path follows the headers
// In a worker, with --plain; what the app starts may be a fleet of its own
const isOff = process.env.RECYCLE_ADDON === 'none'
delete process.env.RECYCLE_ADDON
const LIBC = process.platform === 'linux' ? libcOf() : 'none'

/** @param {string} folder of the addon's source @param {string} [arch] @param {string} [libc] */
function prebuiltFile (folder, arch = process.arch, libc = LIBC) {
  return path.join(folder, 'prebuilds', `linux-${arch}`, `node.napi.${libc}.node`)
}

/**
 * @param {string} folder that may have an addon's source
 * @returns {string[]} those of its binaries that this process could load, what was built here first
 */
function binariesOf (folder) {
  const built = path.join(folder, 'build', 'Release')
  const builds = fs.existsSync(built)
    ? fs.readdirSync(built).filter(file => file.endsWith('.node')).map(file => path.join(built, file))
    : []
  return [...builds, prebuiltFile(folder)].filter(file => fs.existsSync(file))
}

/**
 * The C library of this process, by the loader that its program names. musl's loader takes libraries of glibc too, so
 * trying which file loads would not tell; a report takes much longer.
 * @param {string} [program]
 */
function libcOf (program = '/proc/self/exe') {
  try {
    const file = fs.openSync(program, 'r')
    const head = Buffer.alloc(INTERPRETER_WITHIN)
    fs.readSync(file, head)
    fs.closeSync(file)
    return head.includes('/ld-musl-') ? 'musl' : 'glibc'
  } catch { // there is no /proc, or it may not be read
    const { header } = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport())
    return header.glibcVersionRuntime ? 'glibc' : 'musl'
  }
}

/**
 * @param {string[]} files the first that can be loaded is @param {string} [platform]
 * @returns {{ addon: any, missing: null } | { addon: null, missing: string }} `missing`: why there is none, a sentence
 */
function load (files, platform = process.platform) {
  if (isOff) return { addon: null, missing: '--plain is given' }
  if (platform !== 'linux') return { addon: null, missing: `the addon is for Linux alone, and this is ${platform}` }
  /** @type {string | undefined} */
  let why
  for (const file of files.filter(file => fs.existsSync(file))) {
    try {
      return { addon: require(file), missing: null }
    } catch (error) {
      why ??= String(/** @type {Error} */ (error).message).split('\n', 1)[0].replace(/\.$/, '')
    }
  }
  const missing = why ? `the addon cannot be loaded: ${why}` : `there is no addon for ${platform}-${process.arch}`
  return { addon: null, missing: `${missing}; npm run build:addon, in the package's folder, builds one` }
}

module.exports = { ARCHS, LIBCS, binariesOf, libcOf, load, prebuiltFile }
