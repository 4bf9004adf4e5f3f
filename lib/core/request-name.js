'use strict'

/** How a request is named in the journal, in figures and to the primary: method and path, bounded. */

const LONGEST_REQUEST = 200

/** @param {{ method: string, url: string }} head @returns {string} without the query, which may hold secrets */
const requestName = ({ method, url }) => `${method} ${url.split('?', 1)[0]}`.slice(0, LONGEST_REQUEST)

/**
 * @param {{ method: string, url: string }[]} heads @param {number} most names
 * @returns {{ request: string, count: number }[]} by the first of each name
 */
function countRequests (heads, most) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const name of heads.map(requestName)) {
    if (counts.has(name) || counts.size < most) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([request, count]) => ({ request, count }))
}

module.exports = { requestName, countRequests, LONGEST_REQUEST }
