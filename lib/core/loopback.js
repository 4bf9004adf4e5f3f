'use strict'

/**
 * Whether this names the machine itself, so that no other machine can connect to it. Names below `localhost` are the
 * machine's own by RFC 6761.
 *
 * @param {string} host a name or an address, without brackets
 */
function isLoopback (host) {
  return /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host)
}

module.exports = { isLoopback }
