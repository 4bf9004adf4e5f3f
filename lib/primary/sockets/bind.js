'use strict'

/** Opens a listening socket for a worker, as net would in a process without workers. */

const net = require('node:net')
const { constants } = require('node:os')
const path = require('node:path')
const { mayListenOn } = require('../inherited-descriptors')
const { TicketKeys } = require('./ticket-keys')
const { UnixSocketFile } = require('./unix-socket-file')
/** @import { Handle } from '../../core/internals' */
/** @import { Query } from '../../tables/message' */
/** @import { Listener } from './listening-sockets' */

const LONGEST_NAME = process.platform === 'linux' ? 108 : 104 // bytes, of sockaddr_un
const READABLE = 1 // libuv's UV_READABLE and UV_WRITABLE
const WRITABLE = 2

/** @param {Query} query @returns {Listener | number} libuv's error */
function bind (query) {
  if (!mayListenOn(query.fd)) return -constants.errno.EINVAL
  try {
    return tryToBind(query)
  } catch {
    // `net` and `fs` throw for what no listen() asks for, but an app can send it all the same
    return -constants.errno.EINVAL
  }
}

/** @param {Query} query @returns {Listener | number} libuv's error */
function tryToBind (query) {
  // \0: abstract; an empty one becomes so
  const isFile = Number(query.port) < 0 && query.address !== null && !/^(\0|$)/.test(query.address)
  const name = isFile ? nameOf(query) : query.address
  const handle = net._createServerHandle(
    name, query.port, query.addressType, query.fd, query.flags
  )
  if (typeof handle === 'number') return handle
  // libuv keeps this error back until listen(), which would take any port
  if (Number(query.port) > 0 && boundTo(handle).port !== query.port) {
    handle.close()
    return -constants.errno.EADDRINUSE
  }
  const isWhole = isFile && Buffer.byteLength(String(name)) <= LONGEST_NAME // libuv of Node 20 and 22 cuts a longer one
  return {
    handle,
    tickets: new TicketKeys(),
    file: isWhole ? new UnixSocketFile(String(name)) : null,
    users: new Set(),
    inherited: null
  }
}

/**
 * Lets other users of the machine connect to a unix socket: TCP has no mode.
 * @param {Handle} handle @param {Query} query @returns {number} libuv's error
 */
function allow (handle, { readableAll, writableAll }) {
  const mode = (readableAll === true ? READABLE : 0) | (writableAll === true ? WRITABLE : 0)
  return mode === 0 || !handle.fchmod ? 0 : handle.fchmod(mode)
}

/**
 * The name that the app gave, where it means the same file here: the kernel takes ~100 bytes, and an absolute one may
 * be longer.
 * @param {Query} query
 */
function nameOf ({ address, asked }) {
  return typeof asked === 'string' && path.resolve(asked) === address ? asked : address
}

/** @param {Handle} handle @returns {{ address?: string, port?: number }} empty: of a unix socket */
function boundTo (handle) {
  const bound = {}
  handle.getsockname?.(bound)
  return bound
}

module.exports = { allow, bind, boundTo }
