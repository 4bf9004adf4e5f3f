'use strict'

/** The feature's, by which its profiled workers are known; in a file of its own, since a primary loads the rest for a study alone. */
const NAME = 'leak-line'

module.exports = { NAME }
