'use strict'

/** Of what a worker tells, and of what a journal may contain. */
const MOST_ROUTES = 64
const LONGEST_ROUTE = 160

module.exports = { MOST_ROUTES, LONGEST_ROUTE }
