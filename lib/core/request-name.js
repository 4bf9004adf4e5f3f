'use strict'

/** How a request is named in the journal, in figures and to the primary: method and path, bounded. */

const LONGEST_REQUEST = 200

/** @param {{ method: string, url: string }} head @returns {string} without the query, which may hold secrets */
function requestName ({ method, url }) {
  return `${method} ${url.split('?', 1)[0]}`.slice(0, LONGEST_REQUEST)
}

module.exports = { requestName, LONGEST_REQUEST }
