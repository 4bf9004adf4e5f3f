'use strict'

/** Processes as the kernel lists them, and programs that run to their end. */

require('./bare-children')
const { spawn } = require('node:child_process')
const fs = require('node:fs')

/** @returns {{ pid: number, state: string, ppid: number, pgrp: number }[]} every process there is */
function processes () {
  return fs.readdirSync('/proc').filter(name => /^\d+$/.test(name)).flatMap(name => {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'latin1')
      const [state, ppid, pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return [{ pid: Number(name), state, ppid: Number(ppid), pgrp: Number(pgrp) }]
    } catch {
      return [] // it has exited meanwhile
    }
  })
}

/** The live processes of a group, without zombies. @param {number} pgrp */
function livingOfGroup (pgrp) {
  return processes().filter(p => p.pgrp === pgrp && p.state !== 'Z').map(p => p.pid)
}

/** @param {number} ppid */
function childrenOf (ppid) {
  return processes().filter(p => p.ppid === ppid)
}

/**
 * Waits for a condition that no event announces.
 *
 * @param {() => boolean | Promise<boolean>} isSo
 * @param {number} [timeoutMs]
 * @returns {Promise<boolean>} false: not within the time
 */
async function becomesTrue (isSo, timeoutMs = 15_000) {
  for (const deadline = Date.now() + timeoutMs; !await isSo();) {
    if (Date.now() > deadline) return false
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  return true
}

/**
 * Runs a program to its end.
 *
 * @param {string[]} argv
 * @param {{ env?: Record<string, string>, cwd?: string, timeoutMs?: number }} [how]
 * @returns {Promise<{ code: number | null, signal: string | null, stdout: string, stderr: string }>} signal SIGKILL:
 *   it did not end in time
 */
function runToEnd ([program, ...args], { env = {}, cwd, timeoutMs = 30_000 } = {}) {
  return new Promise(resolve => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let stdout = ''
    let stderr = ''
    const group = /** @type {number} */ (child.pid)
    child.stdout.setEncoding('utf8').on('data', chunk => { stdout += chunk })
    child.stderr.setEncoding('utf8').on('data', chunk => { stderr += chunk })
    const timer = setTimeout(() => process.kill(-group, 'SIGKILL'), timeoutMs)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, stdout, stderr })
    })
  })
}

module.exports = { processes, livingOfGroup, childrenOf, becomesTrue, runToEnd }
