'use strict'

/** The boot of a worker: how it ends, and why it fails. What the worker has not said is read from its processes. */

const { getSystemErrorName } = require('node:util')
const { SUCCESSION } = require('../../features')
const { nameOf } = require('../../core/address')
const { explainRefusal, explainSilence } = require('../../core/start-failure')
const { now } = require('../clock')
const { primaryBranchOf } = require('./find-app')
const { describeProcesses, holderOf, isOfFleet } = require('./open-sockets')
const { howItLeft } = require('./process')
const { version } = require('./worker-code')
/** @import { WorkerHandle } from './worker-handle' */

/** Exit codes of a process that has printed nothing of why it ends. */
const MEANINGS = new Map(/** @type {[number | null, string][]} */ ([
  [0, 'the file ran to its end, and keeps nothing open, or it called process.exit()'],
  [13, 'an await at its top level does not settle, and nothing else is open'] // Node's, for the main module
]))

/**
 * @param {WorkerHandle} handle @param {number} timeoutMs
 * @returns {Promise<string | null>} null: it may be called; else why not
 */
async function boots (handle, timeoutMs) {
  const { event, value } = await nextUnlessDebugged(handle, ['up', 'exit', 'foreign'], timeoutMs)
  if (event === 'exit') return `it ${await howItDied(handle, value)}`
  if (event === 'foreign') return `the installed recycle is ${value}, this fleet runs ${version}: ${SUCCESSION.command}`
  if (event !== 'timeout') return null
  // The time of what it is copied from is up first
  if (handle.process.forkedBy !== null && handle.process.pid === null) return boots(handle, timeoutMs)
  if (handle.readiness.waive()) return null
  const { readiness } = handle
  const evaded = readiness.evades(readiness.missing)
  const missing = evaded.length > 0 ? evaded : readiness.missing
  if (readiness.refusal !== null) return `it was not ready within ${timeoutMs} ms; ${readiness.refusal}`
  const how = evaded.length > 0 ? ', but on another port in its place' : ', as the others do'
  const isTold = missing.length > 0 && (handle.hasLoaded || evaded.length > 0)
  const why = isTold ? `it does not listen on ${missing.map(nameOf).join(', ')}${how}` : await whySilent(handle)
  if (readiness.isMet) return null // meanwhile
  return `it was not ready within ${timeoutMs} ms${why === null ? '' : `; ${why}`}`
}

/**
 * As handle.next(), but the time begins anew while a debugger may hold the worker.
 * @param {WorkerHandle} handle @param {string[]} events with `exit` @param {number} timeoutMs
 */
async function nextUnlessDebugged (handle, events, timeoutMs) {
  for (let next = handle.next(events, timeoutMs); ;) {
    const found = await next
    if (found.event !== 'timeout') return found
    next = handle.next(events, timeoutMs) // what comes during the look is not missed
    if (!await handle.isDebugged()) return found
  }
}

/** @param {WorkerHandle} handle @returns {Promise<string | null>} */
async function whySilent ({ pid, app, readiness: { readyOn }, hasLoaded, heardAt, said, addresses }) {
  const silentMs = now() - heardAt
  if (readyOn === 'online' || (readyOn === 'listening' && addresses.size > 0 && hasLoaded)) return null
  return explainSilence({
    readyOn: /** @type {'listening' | 'message'} */ (readyOn),
    hasLoaded,
    silentMs,
    said,
    primaryBranch: primaryBranchOf(app),
    ...await describeProcesses(pid)
  })
}

/** Of one that has not started. @param {WorkerHandle} handle @param {import('./process').Left} left */
async function howItDied ({ givenUp, exception, refused }, left) {
  if (givenUp !== null) return givenUp.replace(/^it /, '')
  if (exception === null && (left.code !== 0 || refused === null)) {
    const meaning = MEANINGS.get(left.code)
    return meaning === undefined ? howItLeft(left) : `${howItLeft(left)}: ${meaning}`
  }
  // Express passes the error to the callback of listen(): the app goes on, and ends with nothing open
  const isOfShared = refused !== null && (exception?.includes(getSystemErrorName(refused.errno)) ?? true)
  const found = isOfShared ? ofShared(refused) : ofItsOwn(/** @type {string} */ (exception))
  if (found === null) return `${howItLeft(left)}: ${exception}`
  const holder = found.port > 0 ? await holderOf(found.port) : null
  const isOwn = holder?.pid === process.pid
  const isSibling = holder !== null && await isOfFleet(holder.pid)
  return `${howItLeft(left)}: ${explainRefusal({ ...found, holder, isOwn, isSibling })}`
}

/** @param {NonNullable<WorkerHandle['refused']>} refused by the primary */
function ofShared ({ address, port, errno }) {
  const where = port > 0 ? address === null ? `port ${port}` : `${address}:${port}` : String(address)
  return { address: where, port, code: getSystemErrorName(errno) }
}

/** Of a socket that the primary does not open: a thread's, say. @param {string} exception */
function ofItsOwn (exception) {
  const [, address, port] = /listen EADDRINUSE: address already in use (\S+:(\d+))/.exec(exception) ?? []
  return address === undefined
    ? null
    : { address: address.replace(/^:::/, 'port '), port: Number(port), code: 'EADDRINUSE' }
}

module.exports = { boots, howItDied, nextUnlessDebugged }
