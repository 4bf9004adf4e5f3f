'use strict'

/**
 * Whether this names the machine itself, so that no other machine can reach the address. RFC 6761 reserves `localhost`
 * and the names below it.
 * @param {string} host a name or an address, without brackets
 */
const isLoopback = host => /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host)

module.exports = { isLoopback }
