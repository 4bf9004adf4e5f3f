'use strict'

/**
 * tap loads its process tracker into every child by NODE_OPTIONS. There it listens to signals and replaces
 * process.emit, so a fleet with it is not the one that users run. It is removed here.
 *
 * No fleet of the command line opens a control socket, unless its test asks for one: names would clash.
 */

const processOnSpawn = require('process-on-spawn') // tap's own way to put it in

const TRACKER = /\s*"?--(import|loader)=[^\s"]*processinfo[^\s"]*"?/g

processOnSpawn.addListener(child => {
  const { NODE_OPTIONS, ...rest } = child.env
  const options = (NODE_OPTIONS ?? '').replace(TRACKER, '').trim().replaceAll('"', '')
  child.env = { RECYCLE_CONTROL: 'none', ...rest, ...options && { NODE_OPTIONS: options } }
})
