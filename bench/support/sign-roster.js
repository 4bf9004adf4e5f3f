'use strict'

const fs = require('node:fs')
const path = require('node:path')

/**
 * Called by an app once it listens. It leaves an empty file in the folder that ROSTER names; the file's name holds pid,
 * start of the boot and now, in ms since the epoch. By these files a bench sees the workers of any supervisor alike
 * (roster.js).
 *
 * @param {unknown} [thread] of several that have this pid
 */
function signRoster (thread) {
  if (!process.env.ROSTER) return
  const name = [...[process.pid, performance.timeOrigin, Date.now()].map(Math.round), ...typeof thread === 'number' ? [thread] : []].join('-')
  fs.writeFileSync(path.join(process.env.ROSTER, name), '')
}

module.exports = { signRoster }
