'use strict'

/**
 * On what processes listen, as /proc tells: for the reason why a worker does not become ready. Linux only; elsewhere
 * nothing is known.
 */

const fs = require('node:fs')
const path = require('node:path')
const { STATE, inetSocket, inodeOfSocket } = require('../../native/proc')
/** @import { Process } from '../../core/start-failure' */
/** @import { InetSocket } from '../../native/proc' */

const MOST_DESCENDANTS = 50

/**
 * @param {number} pid of a worker
 * @returns {Promise<{ own: Process | null, children: Process[] }>} with the sockets that are not this process's as well
 */
async function describeProcesses (pid) {
  const shared = await socketsOf(process.pid)
  if (shared === null) return { own: null, children: [] }
  const describe = async (/** @type {number} */ pid) => {
    const [sockets, listening, command] = await Promise.all([socketsOf(pid), listeningOf(pid), commandOf(pid)])
    const listens = [...sockets ?? []].filter(inode => !shared.has(inode)).flatMap(inode => listening.get(inode) ?? [])
    return { pid, command, listens: [...new Set(listens.map(addressOf))] }
  }
  return { own: await describe(pid), children: await Promise.all((await descendantsOf(pid)).map(describe)) }
}

/**
 * @param {number} port
 * @returns {Promise<{ pid: number, command: string } | null>} null: none that this user may look into
 */
async function holderOf (port) {
  const inodes = new Set([...await listeningOf('self')].filter(([, found]) => found === port).map(([inode]) => inode))
  if (inodes.size === 0) return null
  const pids = (await list('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  for (const pid of pids) {
    const sockets = await socketsOf(pid)
    if (sockets && [...sockets].some(inode => inodes.has(inode))) return { pid, command: await commandOf(pid) }
  }
  return null
}

/**
 * @param {number} pid @param {number} port of its own
 * @returns {Promise<boolean>} a client is connected there; true as well where it is not told
 */
async function isConnected (pid, port) {
  const rows = await inetSocketsOf(pid)
  return rows === null || rows.some(row => row.port === port && row.state === STATE.established)
}

/**
 * @param {number | 'self'} pid @returns {Promise<InetSocket[] | null>} of its network namespace; null: it is not told
 */
async function inetSocketsOf (pid) {
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => read(`/proc/${pid}/net/${name}`)))
  if (tables.every(table => table === '')) return null
  return tables.flatMap(table => table.split('\n')).flatMap(line => inetSocket(line) ?? [])
}

/** @param {number} pid @returns {Promise<Set<string> | null>} inodes; null: it is not told */
async function socketsOf (pid) {
  const folder = `/proc/${pid}/fd`
  const names = await list(folder)
  if (names.length === 0) return null
  const links = await Promise.all(names.map(name => fs.promises.readlink(path.join(folder, name)).catch(() => '')))
  return new Set(links.flatMap(link => inodeOfSocket(link) ?? []))
}

/** @param {number | 'self'} pid @returns {Promise<Map<string, number>>} port by inode */
async function listeningOf (pid) {
  const rows = await inetSocketsOf(pid) ?? []
  return new Map(rows.filter(({ state }) => state === STATE.listen).map(({ inode, port }) => [inode, port]))
}

/** @param {number} pid @returns {Promise<number[]>} */
async function descendantsOf (pid) {
  /** @type {number[]} */
  const found = []
  for (const queue = [pid]; queue.length > 0 && found.length < MOST_DESCENDANTS;) {
    const parent = queue.shift()
    const threads = await list(`/proc/${parent}/task`)
    const children = await Promise.all(threads.map(thread => read(`/proc/${parent}/task/${thread}/children`)))
    const pids = children.join(' ').split(/\s+/).filter(Boolean).map(Number)
    found.push(...pids)
    queue.push(...pids)
  }
  return found
}

/** @param {number} pid @returns {Promise<boolean>} whether it is this process, or one that this has started */
const isOfFleet = async pid => pid === process.pid || (await descendantsOf(process.pid)).includes(pid)

/** @param {number} pid */
async function commandOf (pid) {
  const [program = '', ...args] = (await read(`/proc/${pid}/cmdline`)).split('\0')
  return [path.basename(program), ...args].join(' ').trim().slice(0, 80)
}

/** @param {number} port */
const addressOf = port => `port ${port}`

/** @param {string} file @returns {Promise<string>} empty where it cannot be read */
const read = async file => fs.promises.readFile(file, 'latin1').catch(() => '')

/** @param {string} folder @returns {Promise<string[]>} */
const list = async folder => fs.promises.readdir(folder).catch(() => [])

module.exports = { describeProcesses, holderOf, isConnected, isOfFleet }
