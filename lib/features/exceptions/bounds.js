'use strict'

/** Most that is told of an exception, in characters; `trace`: all that Node.js prints of it. */

const LONGEST = Object.freeze({ name: 200, message: 200, stack: 2000, trace: 8000, request: 200, listener: 80 })

module.exports = { LONGEST }
