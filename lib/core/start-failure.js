'use strict'

/** Why a worker did not become ready: the cause, in words, and the option or the command that helps. */

const { formatValue } = require('./format-value')
const { count, formatTime } = require('./units')

const SEND = 'process.send'
const BLOCKED_MS = 2000
/**
 * @typedef {object} Process
 * @property {number} pid @property {string} command
 * @property {string[]} listens addresses on which it listens, by a socket that is not the primary's
 */

const OWN_SOCKET = 'by a socket of its own (exclusive, reusePort, a thread, a native server): --ready-on online ' +
  'serves it, without hand-off, and -w 1 without reusePort'

/**
 * Of one that never listened, as far as Node.js tells.
 * @param {object} facts @param {'listening' | 'online' | 'message'} facts.readyOn
 * @param {boolean} facts.hasLoaded its event loop has turned
 * @param {number} facts.silentMs since anything was heard of it: a heartbeat comes twice a second
 * @param {unknown} [facts.said] the latest message of its app, where it is not 'ready'
 * @param {Process | null} facts.own null: not known on this system
 * @param {Process[]} facts.children its processes, and theirs
 * @param {PrimaryBranch | null} [facts.primaryBranch] @returns {string | null} null: nothing is known
 */
function explainSilence ({ readyOn, hasLoaded, silentMs, said, own, children, primaryBranch = null }) {
  if (!hasLoaded) return 'its code was still loading'
  if (silentMs >= BLOCKED_MS) return `its event loop has been blocked for ${formatTime(silentMs)}`
  if (readyOn === 'message') {
    const instead = said === undefined ? '' : `, but ${SEND}(${formatValue(said)})`
    return `its app has not called ${SEND}('ready')${instead}`
  }
  if (own === null) return null
  const listening = children.find(({ listens }) => listens.length > 0)
  if (listening) {
    return `its child process ${nameOf(listening)} listens on ${listening.listens.join(', ')}: ` +
      'give recycle the file of the server itself'
  }
  if (own.listens.length > 0) return `it listens on ${own.listens.join(', ')} ${OWN_SOCKET}`
  const started = children.length > 0
    ? `, nor ${children.length === 1 ? 'does' : 'do'} the ${count(children.length, 'process', 'processes')} ` +
      `that it has started (${nameOf(children[0])}${children.length > 1 ? ', …' : ''})`
    : ''
  if (primaryBranch !== null) {
    return `it does not listen anywhere${started}, and the main file has ${sayPrimaryBranch(primaryBranch)}: ` +
      'a listen() in that branch is not reached'
  }
  return `it does not listen anywhere${started}; a program that serves no port is run with --ready-on online`
}

/** @typedef {'cluster.isPrimary' | 'cluster.isMaster' | "throng's master"} PrimaryBranch */

/**
 * Code that a worker does not run of an app with a cluster of its own, as far as a reading of its source tells.
 * @param {string} source @returns {PrimaryBranch | null}
 */
function primaryBranchIn (source) {
  if (/['"]throng['"]/.test(source) && /\bmaster\b/.test(source)) return "throng's master"
  const name = /['"](?:node:)?cluster['"]/.test(source) && /\bis(?:Primary|Master)\b/.exec(source)?.[0]
  return name ? /** @type {PrimaryBranch} */ (`cluster.${name}`) : null
}

/** @param {PrimaryBranch} branch */
function sayPrimaryBranch (branch) {
  return branch === "throng's master"
    ? `${branch}, which is called in no worker`
    : `${branch}, which is false in a worker`
}

/**
 * Of one that died because an address was refused.
 * @param {object} refused @param {string} refused.address @param {number} refused.port @param {string} refused.code
 * @param {{ pid: number, command: string } | null} refused.holder
 * @param {boolean} [refused.isOwn] the holder is the primary @param {boolean} [refused.isSibling] it is of this fleet
 */
function explainRefusal ({ address, port, code, holder, isOwn = false, isSibling = false }) {
  if (code === 'EADDRINUSE' && isOwn) {
    return `${address} is in use by a socket on that port which recycle has at another address: --admin is to ` +
      'have a port of its own; where a socket unit of systemd passed it, ListenStream= is to be the app\'s own ' +
      'address, host and port'
  }
  if (code === 'EADDRINUSE' && isSibling) {
    return `${address} is in use by pid ${holder?.pid} of this fleet: a socket of its own (exclusive, a thread, ` +
      'a native server) is for one worker: write -w 1'
  }
  if (code === 'EADDRINUSE') {
    return `${address} is in use${holder ? ` by ${nameOf(holder)}` : ', by a process that this user cannot see'}`
  }
  if (code === 'EACCES' && port > 0 && port < 1024) {
    return `${address} is not permitted: ports below 1024 need CAP_NET_BIND_SERVICE, or a socket from systemd`
  }
  return `${address} is refused (${code})`
}

/** @param {{ pid: number, command: string }} process */
const nameOf = ({ pid, command }) => `pid ${pid} (${command})`

module.exports = { explainSilence, explainRefusal, primaryBranchIn, sayPrimaryBranch }
