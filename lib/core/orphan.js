'use strict'

/**
 * An orphan: a worker that lives on when its primary has died, until another one adopts it. Here is what the two must
 * agree on. Its socket has an abstract name, which needs no folder and ends with the process:
 *
 *     recycle-orphan-<uid>-<hash of the fleet>-<pid>
 */

/** Of the messages; raised when one of them changes its meaning. */
const VERSION = 1
const LONGEST_NAME = 108 // of sockaddr_un. Node.js 20 fills names up with zeros, later ones do not

/** Events that orphans write: rows of journal/events.js. @type {Record<string, import('../features').Event>} */
const OF_ORPHANS = {
  'worker.orphaned': {
    level: 'warn',
    sentence: (l, { time, worker }) => `supervisor ${l.oldPid} has died: ${worker(l)} serves ` +
      `on for ${time(l.timeoutMs)}, or until another supervisor adopts it`
  },
  'worker.unadopted': {
    level: 'warn', sentence: (l, { worker }) => `no supervisor has adopted ${worker(l)} (${l.why}): it leaves`
  },
  'worker.revived': {
    level: 'warn', sentence: (l, { worker }) => `${worker(l)} starts supervisor ${l.started} (--revive)`
  },
  'worker.unrevived': {
    level: 'error',
    sentence: (l, { worker }) =>
      `the supervisor that ${worker(l)} has started ${l.why}${l.isLast ? ', and is not started again' : ''}`
  }
}

/**
 * @param {number} uid @param {string} fleet what tells it from the others of this user
 * @returns {string} with which the names of its orphans begin
 */
const familyOf = (uid, fleet) => `recycle-orphan-${uid}-${hash(fleet)}-`

/** @param {string} family @param {number} pid @returns {string} the path for net */
const socketName = (family, pid) => `\0${family}${pid}`.padEnd(LONGEST_NAME, '\0')

/** @param {string} family @returns {string} the path of the one that starts the next primary */
const lockName = family => `\0${family}revival`.padEnd(LONGEST_NAME, '\0')

/**
 * @param {(string | null)[]} paths of all unix sockets, as /proc/net/unix has them @param {string} family
 * @returns {number[]} pids of orphans, lowest first
 */
function orphansAmong (paths, family) {
  const pids = paths.flatMap(path =>
    path?.startsWith(`@${family}`) ? Number(path.slice(1 + family.length).replace(/@+$/, '')) : [])
  return [...new Set(pids)].filter(pid => Number.isSafeInteger(pid) && pid > 1).sort((a, b) => a - b)
}

/**
 * @param {(string | null)[]} paths of all unix sockets, as /proc/net/unix has them @param {number} uid
 * @returns {string} a sentence's end about the orphans of this user; '' where there are none
 */
function sayOrphans (paths, uid) {
  const family = new RegExp(`^@recycle-orphan-${uid}-[0-9a-f]{16}-(\\d+)`)
  const pids = [...new Set(paths.flatMap(path => family.exec(path ?? '')?.[1] ?? []))]
  if (pids.length === 0) return ''
  const [workers, serve, them] = pids.length === 1 ? ['worker', 'serves', 'it'] : ['workers', 'serve', 'them']
  return `; ${pids.length} ${workers} whose supervisor has died ${serve} on (pid ${pids.join(', ')}): recycle adopts ` +
    `${them} when it is started again`
}

/** FNV-1a, twice: what must not be mistaken is compared in full. @param {string} text */
function hash (text) {
  let [high, low] = [0x811c9dc5, 0x01000193]
  for (const character of text) {
    high = Math.imul(high ^ Number(character.codePointAt(0)), 0x01000193)
    low = Math.imul(low ^ high, 0x01000193)
  }
  return [high, low].map(half => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

module.exports = { OF_ORPHANS, VERSION, familyOf, lockName, sayOrphans, socketName, orphansAmong }
