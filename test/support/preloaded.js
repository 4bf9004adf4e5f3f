'use strict'

/** Libraries that are preloaded into a process and stand for a kernel or a file system that behaves otherwise. */

const { execFileSync, spawnSync } = require('node:child_process')
const path = require('node:path')
const { FIXTURES } = require('./fleet')

/** Why they cannot be had; false: they can. */
const lacking = process.platform !== 'linux' || spawnSync('g++', ['--version']).error ? 'there is no g++ (Debian: g++)' : false

/** @param {any} t tap's @param {string} fixture @returns {string} the library */
function compile (t, fixture) {
  const library = path.join(t.testdir(), 'preloaded.so')
  execFileSync('g++', ['-shared', '-fPIC', '-O1', '-o', library, path.join(FIXTURES, fixture)])
  return library
}

module.exports = { compile, lacking }
