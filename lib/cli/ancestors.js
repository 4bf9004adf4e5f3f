'use strict'

/** The processes that have started this one, by /proc. */

const fs = require('node:fs')

const MOST = 3 // a launcher starts by a shell

/** @typedef {{ pid: number, command: string[] }} Ancestor */

/** @returns {Ancestor[]} the nearest first; empty where /proc does not tell */
function ancestors () {
  /** @type {Ancestor[]} */
  const found = []
  try {
    for (let pid = process.ppid; pid > 0 && found.length < MOST;) {
      found.push({ pid, command: fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') })
      pid = Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
    }
  } catch {} // no /proc, or the ancestor has gone
  return found
}

/** @param {Ancestor[]} ancestors */
function isUnderNodemon (ancestors) {
  return ancestors.some(({ pid, command }) => pid > 1 && command.some(word => /(^|\/)nodemon(\.js)?$/m.test(word)))
}

/**
 * A shell, or npm by a shell, as PID 1 of a container: a stop reaches it alone, and when it exits the kernel kills this
 * process.
 * @param {Ancestor[]} ancestors @returns {string | null} its command
 */
function shellAsInit (ancestors) {
  const init = ancestors.find(({ pid }) => pid === 1)
  const words = init?.command.slice(0, 2).flatMap(word => word.split(' ', 1)) ?? []
  const isShell = words.some(word =>
    /(^|\/)(sh|bash|dash|ash|zsh|npm|npm-cli\.js|pnpm|pnpm\.cjs|yarn|yarn\.js)$/.test(word))
  return init && isShell ? init.command.join(' ').trim() : null
}

module.exports = { ancestors, isUnderNodemon, shellAsInit }
