'use strict'

/** @import { Sample } from './sample' */

/**
 * The latest samples of a worker, oldest first: as many as its budget requires in a row.
 *
 * @typedef {{ readonly samples: readonly Sample[] }} Window
 */

/** @returns {Window} */
const openWindow = () => Object.freeze({ samples: Object.freeze([]) })

/** @param {Window} window @param {Sample} sample @param {number} size how many to keep, 1 or more @returns {Window} */
function pushSample (window, sample, size) {
  return Object.freeze({ samples: Object.freeze([...window.samples, sample].slice(-size)) })
}

module.exports = { openWindow, pushSample }
