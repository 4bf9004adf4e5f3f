'use strict'

/**
 * V8 in a primary, which sits beside its workers for weeks with 7 MB of live objects and, as a rule, little to do:
 *
 * - The young generation stays at its first size. V8 enlarges it as objects survive in it, to three times 16 MB in the
 *   end, and a process that is never idle keeps that.
 * - The optimising compilers do not run before the primary has something to do. They take 4 to 7 MB, for functions that
 *   have loaded its modules.
 *
 * The other commands have V8 as it is by default.
 */

const v8 = require('node:v8')
const { every } = require('../native/every')

const GROWTH = 2 // V8's default
const COMPILERS = parseInt(process.versions.node) >= 22 ? ['opt', 'maglev'] : ['opt'] // Node.js 20 has no Maglev
const LOOK_MS = 1000
const BUSY = 0.05 // of a CPU

function begin () {
  v8.setFlagsFromString('--semi-space-growth-factor=1')
  for (const compiler of COMPILERS) v8.setFlagsFromString(`--no-${compiler}`)
}

function end () {
  v8.setFlagsFromString(`--semi-space-growth-factor=${GROWTH}`)
  compile()
}

function compile () {
  for (const compiler of COMPILERS) v8.setFlagsFromString(`--${compiler}`)
}

/**
 * When it first replaces a worker, or has used 5 % of a CPU for a second. Booting the fleet is no reason to compile.
 * @param {import('node:events').EventEmitter} supervisor whose fleet is ready
 */
function compileWhenBusy (supervisor) {
  let before = process.cpuUsage()
  const end = every(LOOK_MS, () => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    if (user + system >= BUSY * LOOK_MS * 1000) start() // µs
  })
  const onEvent = (/** @type {{ event: string }} */ { event }) => { if (event === 'worker.spawn') start() }
  const start = () => {
    end()
    supervisor.off('event', onEvent)
    compile()
  }
  supervisor.on('event', onEvent)
}

module.exports = { begin, end, compileWhenBusy }
