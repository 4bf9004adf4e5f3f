'use strict'

/** Tests of Node's own that pass in a plain cluster's worker and not in one of ours, as they should: by name, and why. */

module.exports = {}
