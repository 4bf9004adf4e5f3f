'use strict'

/**
 * News of an https server from worker to worker, by the primary: its keys for session tickets, and of which options
 * they are; see ticket-keys.js.
 */

/** The TLS options that a server keeps; a ticket of a server with others is not to be taken. */
const OPTIONS = [
  'pfx', 'key', 'passphrase', 'cert', 'ca', 'crl', 'clientCertEngine', 'privateKeyEngine', 'privateKeyIdentifier',
  'minVersion', 'maxVersion', 'secureProtocol', 'secureOptions', 'honorCipherOrder', 'ciphers', 'sigalgs', 'ecdhCurve',
  'dhparam', 'sessionIdContext', 'certificateCompression', 'ticketKeys', 'requestCert', 'rejectUnauthorized',
  'ALPNProtocols'
]

/** @param {any} server @returns {import('../../tables/message').ServerData | undefined} undefined: it is none of TLS */
function serverDataOf (server) {
  const data = server._getServerData?.()
  if (data === undefined) return undefined
  const { createHash } = require('node:crypto') // a server of TLS has loaded it
  const options = createHash('sha256').update(JSON.stringify(OPTIONS.map(name => server[name] ?? null))).digest('hex')
  const callbacks = Object.getOwnPropertySymbols(server).filter(({ description }) =>
    /^(?:sni|psk)callback$/.test(String(description)))
  return {
    ...data,
    options,
    isOpaque: server._contexts?.length > 0 || callbacks.some(symbol => typeof server[symbol] === 'function')
  }
}

module.exports = { serverDataOf }
