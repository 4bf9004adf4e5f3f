'use strict'

/**
 * The texts in which Linux tells a process its cgroups: where their files are, and what the files hold. Versions 1 and
 * 2 of cgroups differ in both. A limit holds for all cgroups below it, so the process's own and each one above it
 * count.
 */

const UNLIMITED = 2 ** 62 // version 1 has no word for it: it writes the largest number of pages that it can count

/**
 * @typedef {object} Hierarchy
 * @property {1 | 2} version
 * @property {string[]} folders of the process's cgroup and of those above it, up to the last one that is visible
 */

/**
 * Finds the cgroup that a controller works on: of version 1 where that has the controller, else of version 2.
 * @param {string} controller `"memory"` or `"cpu"` @param {string} cgroups the text of /proc/self/cgroup
 * @param {string} mounts the text of /proc/self/mountinfo
 * @returns {Hierarchy | null} null: there is none, or its files are not mounted
 */
function findHierarchy (controller, cgroups, mounts) {
  const own = cgroups.split('\n').map(line => /^\d+:([^:]*):(.*)$/.exec(line)).filter(found => found !== null)
  const first = own.find(([, controllers]) => controllers.split(',').includes(controller))
  const found = first ?? own.find(([, controllers]) => controllers === '')
  if (!found) return null
  const version = first ? 1 : 2
  const mount = mounts.split('\n').map(readMount).find(({ type, options }) =>
    version === 1 ? type === 'cgroup' && options.includes(controller) : type === 'cgroup2')
  if (!mount) return null
  // The mount may be a part of the hierarchy, whose root is then a container's own cgroup.
  const [, , path] = found
  const isBelow = path === mount.root || path.startsWith(mount.root.endsWith('/') ? mount.root : `${mount.root}/`)
  const names = isBelow ? path.slice(mount.root.length).split('/').filter(Boolean) : []
  if (names.includes('..')) names.length = 0
  const folders = [mount.at]
  for (const name of names) folders.unshift(`${folders[0]}/${name}`)
  return { version, folders }
}

/** @param {string} line of mountinfo */
function readMount (line) {
  const [before, after = ''] = line.split(' - ')
  const [, , , root = '', at = ''] = before.split(' ').map(unescaped)
  const [type, , options = ''] = after.split(' ')
  return { root, at, type, options: options.split(',') }
}

/** The kernel writes a space, say, in octal. @param {string} text */
const unescaped = text => text.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)))

/**
 * @param {string | null} text of memory.max, memory.high or memory.limit_in_bytes
 * @returns {number | null} bytes; null: no limit
 */
function readLimit (text) {
  const bytes = text === null || text.trim() === '' ? NaN : Number(text)
  return Number.isFinite(bytes) && bytes < UNLIMITED ? bytes : null
}

/**
 * @param {string | null} text lines of a name and a number
 * @param {string} name @returns {number | null} null: it has none of this name
 */
function readFigure (text, name) {
  const value = new RegExp(`^${name}:? +(\\d+)`, 'm').exec(text ?? '')?.[1]
  return value === undefined ? null : Number(value)
}

/**
 * @typedef {{ some: number, full: number }} Pressure shares of the last ten seconds, 0 to 1, in which some process, or
 *   all of them, waited for memory
 *
 * @param {string | null} text of memory.pressure, or of /proc/pressure/memory @returns {Pressure | null}
 */
function readPressure (text) {
  const share = (/** @type {string} */ kind) =>
    Number(new RegExp(`^${kind} avg10=([\\d.]+)`, 'm').exec(text ?? '')?.[1] ?? NaN) / 100
  const [some, full] = [share('some'), share('full')]
  return Number.isNaN(some) || Number.isNaN(full) ? null : { some, full }
}

/**
 * @param {string | null} quota of cpu.max, `"150000 100000"`, or of cpu.cfs_quota_us
 * @param {string | null} [period] of cpu.cfs_period_us @returns {number | null} CPUs; null: no quota
 */
function readQuota (quota, period = null) {
  const [allowed, per] = `${quota ?? ''} ${period ?? ''}`.trim().split(/\s+/).map(Number)
  const cpus = allowed / per
  return allowed > 0 && cpus > 0 && cpus < Infinity ? cpus : null
}

module.exports = { findHierarchy, readLimit, readFigure, readPressure, readQuota }
