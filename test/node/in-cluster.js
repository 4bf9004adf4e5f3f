'use strict'

/**
 * node in-cluster.js <file> [flags…] [-- args…]: runs a program as the one worker of a plain cluster, and exits as it
 * does. It is also the worker's preload: cluster's channel keeps a worker alive for ever, and a test of Node's ends
 * when nothing is left to do.
 */

const cluster = require('node:cluster')

if (cluster.isPrimary) {
  const [exec, ...rest] = process.argv.slice(2)
  const end = rest.indexOf('--')
  const [flags, args] = end === -1 ? [rest, []] : [rest.slice(0, end), rest.slice(end + 1)]
  cluster.setupPrimary({ exec, args, execArgv: ['--require', __filename, ...flags] })
  cluster.fork().on('exit', (code, signal) => {
    process.exitCode = signal ? 1 : code
    if (signal) console.error(`ended by ${signal}`)
  })
} else {
  process.execArgv.splice(process.execArgv.indexOf(__filename) - 1, 2)
  const getServer = cluster._getServer
  let asking = 0
  cluster._getServer = (server, query, done) => {
    asking++
    process.channel.ref()
    return getServer.call(cluster, server, query, (...answer) => {
      done(...answer)
      if (--asking === 0) process.channel.unref()
    })
  }
  process.channel.unref()
}
