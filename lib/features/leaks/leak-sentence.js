'use strict'

const { count, formatSize } = require('../../core/units')
/** @import { Lack, RouteEstimate } from './route-memory' */

/** @type {Record<Exclude<Lack, null>, string>} */
const LACKS = {
  'few-samples': 'too few collections so far',
  'no-mark-sweep': 'stands out, but no worker has finished a mark-sweep yet, which tells garbage from what is kept',
  'one-route': 'there is one route, and nothing to compare it with',
  unclear: 'no route stands out'
}

/**
 * @param {Lack} lack @param {RouteEstimate[]} routes
 * @param {string} suspect the route that stands out, where the lack is a mark-sweep
 * @returns {string} which route leaks
 */
function leakSentence (lack, routes, suspect) {
  if (lack !== null) return `not enough evidence that a route leaks: ${suspect ? `${suspect} ` : ''}${LACKS[lack]}`
  const [first, ...more] = routes.filter(({ leaks }) => leaks)
  return `${first.route} keeps about ${formatSize(Math.round(Number(first.bytesPerRequest)))} of each request${more.length > 0 ? `; ${count(more.length, 'more route')} leak${more.length === 1 ? 's' : ''}` : ''}`
}

module.exports = { leakSentence }
