'use strict'

/**
 * Where compiled code is kept, so that the next process boots faster: the app's by Node.js (module.enableCompileCache,
 * from 22.10 on), and that of this package by own-code.js.
 *
 * What is in there is run. Node checks that an entry belongs to its source, not which user wrote it, so its own
 * default, under the temporary folder that all users share, will not do: this folder is the user's, and no other user
 * may write to it or to any folder above it. Where that cannot be had there is no cache.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { makeFolder } = require('./make-folder')

const OTHERS_WRITE = 0o022
const STICKY = 0o1000
const DAY_MS = 24 * 3600 * 1000
const KEPT_MS = 30 * DAY_MS

/**
 * @param {Record<string, string | undefined>} env
 * @returns {string | null} null: the environment says so, or no folder is private enough
 */
function openCompileCache (env) {
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_COMPILE_CACHE) return null
  if (env.NODE_V8_COVERAGE) return null // with it, coverage is less exact
  try {
    const folder = path.join(env.XDG_CACHE_HOME || path.join(env.HOME || os.homedir(), '.cache'),
      'recycle', 'compile-cache')
    makeFolder(folder, 0o700)
    const real = fs.realpathSync(folder)
    if (!isPrivate(real)) return null
    const now = Date.now() // eslint-disable-line no-restricted-properties -- the times of files are of the wall clock
    if (isDue(`${folder}.pruned`, now)) prune(real, now - KEPT_MS).catch(() => {}) // others prune too
    return real
  } catch {
    return null // a read-only file system, or no home
  }
}

/**
 * Once a day: a look at some thousand entries takes longer than the rest of a start.
 * @param {string} stamp a file whose time is that of the last look @param {number} now ms since the epoch
 */
function isDue (stamp, now) {
  const age = now - (fs.statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  if (age >= 0 && age < DAY_MS) return false
  fs.writeFileSync(stamp, '')
  return true
}

/**
 * Node never deletes an entry, and each release of an app has new ones.
 * @param {string} folder @param {number} before ms since the epoch
 */
async function prune (folder, before) {
  for await (const entry of await fs.promises.opendir(folder, { recursive: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (entry.isFile() && (await fs.promises.stat(file)).mtimeMs < before) await fs.promises.unlink(file)
  }
}

/** @param {string} folder absolute, without symbolic links */
function isPrivate (folder) {
  for (let at = folder; ; at = path.dirname(at)) {
    const { uid, mode } = fs.statSync(at)
    const isOurs = uid === process.getuid?.() || (uid === 0 && at !== folder)
    if (!isOurs || ((mode & OTHERS_WRITE) !== 0 && ((mode & STICKY) === 0 || at === folder))) return false
    if (at === path.dirname(at)) return true
  }
}

module.exports = { openCompileCache }
