'use strict'

/**
 * A preload of both kinds of worker. Many suites read the port of a server in the tick of its `listen(0)`, when a
 * worker of a cluster, whose primary opens the socket, has none yet. With this the port is chosen here, `address()` has
 * it at once, and a client that connects to it waits until the server listens.
 */

const net = require('node:net')

const { listen, address } = net.Server.prototype
const { connect } = net.Socket.prototype
let next = Number(process.env.NODE_COMMON_PORT ?? 13_000)
/** The servers that do not listen yet, by port. @type {Map<number, net.Server>} */
const opening = new Map()

/** @this {net.Server} @param {any[]} args */
net.Server.prototype.listen = function (...args) {
  const [first] = args
  const isObject = typeof first === 'object' && first !== null
  const isAny = first === undefined || first === 0 || typeof first === 'function' || (isObject && first.port === 0)
  if (!isAny) return listen.apply(this, args)
  const port = next++
  opening.set(port, this)
  for (const event of ['listening', 'error', 'close']) this.prependOnceListener(event, () => opening.delete(port))
  if (typeof first === 'function') args.unshift(port)
  else args[0] = isObject ? { ...first, port } : port
  return listen.apply(this, args)
}

net.Server.prototype.address = function () {
  const port = [...opening].find(([, server]) => server === this)?.[0]
  return address.call(this) ?? (port === undefined ? null : { address: '::', family: 'IPv6', port })
}

/** @this {net.Socket} @param {any[]} args as net.connect() passes them on, or an app */
net.Socket.prototype.connect = function (...args) {
  const [first] = Array.isArray(args[0]) ? args[0] : args
  const server = opening.get(Number(typeof first === 'object' ? first?.port : first))
  if (!server) return connect.apply(this, args)
  this.connecting = true // what is written waits
  server.once('listening', () => { if (!this.destroyed) connect.apply(this, args) })
  return this
}
