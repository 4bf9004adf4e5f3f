'use strict'

/**
 * The primary acts for a worker as that worker: with its umask, and where it has become another user, as
 * that one. So a file is whose it is without workers, and a worker reaches nothing by the primary that it could not
 * reach itself.
 */

const fs = require('node:fs')

const { now } = require('../clock')

const BELIEVED_MS = 1000
const LINE = /^(Uid|Gid|Groups):[ \t]*(.*?)[ \t]*$/gm

/** @typedef {{ uid: number, gid: number, groups: number[] }} User the effective one */

/** When each was first seen as another user. @type {WeakMap<object, number>} */
const seen = new WeakMap()

/**
 * @template Result @param {{ pid?: number }} worker
 * @param {{ umask?: number, uid?: number, gid?: number }} said as it was when it asked
 * @param {() => Result} act synchronous @returns {Result}
 */
function asWorker (worker, { umask, uid, gid }, act) {
  const before = umask === undefined ? undefined : process.umask(umask & 0o777)
  try {
    const user = userOf(worker, { uid, gid })
    return user === null ? act() : asUser(user, act)
  } finally {
    if (before !== undefined) process.umask(before)
  }
}

/**
 * A worker begins as the primary's user, and may have become another one since it asked: it is believed, until a second
 * after it has been seen as another user. From then on what the kernel says counts.
 * @param {{ pid?: number } | undefined} worker @param {{ uid?: number, gid?: number }} said
 * @returns {User | null} null: the primary's, or not to be had
 */
function userOf (worker, said) {
  if (process.geteuid?.() !== 0 || typeof worker?.pid !== 'number') return null // no other may become another
  const user = effectiveUser(worker.pid)
  const isOurs = (/** @type {{ uid?: number, gid?: number }} */ { uid, gid }) =>
    uid === 0 && gid === process.getegid?.()
  if (user === null || isOurs(user)) return null
  if (!seen.has(worker)) seen.set(worker, now())
  return isOurs(said) && now() - Number(seen.get(worker)) < BELIEVED_MS ? null : user
}

/** @param {number} pid @returns {User | null} null: there is no /proc */
function effectiveUser (pid) {
  try {
    const lines = Object.fromEntries([...fs.readFileSync(`/proc/${pid}/status`, 'latin1').matchAll(LINE)]
      .map(([, name, ids]) => [name, ids.split(/\s+/).filter(Boolean).map(Number)]))
    return { uid: lines.Uid[1], gid: lines.Gid[1], groups: lines.Groups }
  } catch {
    return null
  }
}

/** @typedef {'getgroups' | 'setgroups' | 'getegid' | 'setegid' | 'geteuid' | 'seteuid'} Calls not there on Windows */

/** @template Result @param {User} user @param {() => Result} act @returns {Result} */
function asUser ({ uid, gid, groups }, act) {
  const own = /** @type {Required<Pick<NodeJS.Process, Calls>>} */ (process)
  const before = { groups: own.getgroups(), gid: own.getegid(), uid: own.geteuid() }
  try {
    own.setgroups(groups)
    own.setegid(gid)
    own.seteuid(uid)
    return act()
  } finally {
    own.seteuid(before.uid)
    own.setegid(before.gid)
    own.setgroups(before.groups)
  }
}

module.exports = { asWorker }
