'use strict'

/** The addresses that workers listen on, by their key: `address:port:family:fd#ordinal`, as the app asks for them. */

/** @param {string} key @returns {number} 0: any port that is free; -1: it is a path, or a descriptor */
const portOf = key => Number(/:(\d+):(?:4|6|-?\d*):[^:]*#\d+$/.exec(key)?.[1] ?? -1)

/** @param {string} key @returns {string} for people */
function nameOf (key) {
  const port = portOf(key)
  const where = /^(.*):-?\d*:-?\d*:[^:]*#\d+$/.exec(key)?.[1] ?? key
  if (port < 0) return where
  return port === 0 ? 'a port that is free' : `${where === 'null' || where === '' ? '' : where}:${port}`
}

/**
 * @param {{ address?: string, port?: number }} bound as of getsockname() @param {boolean} isTls
 * @returns {string | null} for people; null: it is no TCP port
 */
function urlOf ({ address = '', port }, isTls) {
  if (port === undefined) return null
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : address.includes(':') ? `[${address}]` : address
  return `${isTls ? 'https' : 'http'}://${host}:${port}`
}

/**
 * A path with this pid in it is that worker's alone: no other worker is to listen there.
 * @param {string} key @param {number} pid
 */
const isOwnPath = (key, pid) => portOf(key) < 0 && new RegExp(`(?<!\\d)${pid}(?!\\d)`).test(key)

/**
 * The ports that some of the workers listen on, and not all: each of them was to serve the same clients.
 * @param {readonly { slot: number, keys: Iterable<string> }[]} workers
 * @returns {{ address: string, slots: number[] }[]}
 */
function unevenAddresses (workers) {
  /** @type {Map<string, number[]>} */
  const slots = new Map()
  for (const { slot, keys } of workers) {
    for (const key of keys) {
      if (portOf(key) >= 0) slots.set(key, [...slots.get(key) ?? [], slot])
    }
  }
  return [...slots].filter(([, some]) => some.length < workers.length)
    .map(([key, some]) => ({ address: nameOf(key), slots: some }))
}

/** @param {readonly { address: string, slots: readonly number[] }[]} uneven @returns {string} for people */
function listUneven (uneven) {
  return uneven.map(({ address, slots }) => `${address} in slot ${slots.join(', ')} alone`).join('; ')
}

/**
 * Whether an app that does not listen where it is to means to: one that takes another port when its own answers (a
 * predecessor listens there) has tried that port, or listens on any that is free.
 * @param {string} key where it is to
 * @param {{ asked: Iterable<string>, tried: ReadonlySet<number | null>, known: Iterable<string> }} worker `tried`:
 *   ports that it has asked for, with success or without; `known`: where its predecessor listened
 */
function isEvading (key, { asked, tried, known }) {
  const port = portOf(key)
  if (port <= 0) return false
  const before = new Set(known)
  const taken = [...asked]
  if (taken.some(other => portOf(other) === port)) return false // it has another server there
  return tried.has(port) || taken.some(other => portOf(other) === 0 && !before.has(other))
}

module.exports = { portOf, nameOf, urlOf, isOwnPath, unevenAddresses, listUneven, isEvading }
