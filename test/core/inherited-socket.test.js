'use strict'

const t = require('tap')
const { pickInherited, addressOf } = require('../../lib/core/inherited-socket')

/** @param {number} fd @param {string} address @param {number} port */
const tcp = (fd, address, port) => ({ fd, name: null, path: null, address, port })
/** @param {number} fd @param {string} path */
const unix = (fd, path) => ({ fd, name: null, path, address: null, port: null })

/** @type {[string, import('../../lib/core/inherited-socket').InheritedSocket[], any, number | undefined][]} */
const CASES = [
  ['listen(80) gets the socket on every address', [tcp(3, '127.0.0.1', 80), tcp(4, '::', 80)], { address: null, port: 80 }, 4],
  ['listen(80) gets one of IPv4, where there is no other', [tcp(3, '0.0.0.0', 80)], { address: null, port: 80 }, 3],
  ['listen(80) gets a narrower one, where there is no other', [tcp(3, '127.0.0.1', 80)], { address: null, port: 80 }, 3],
  ['listen(80) gets the one of both families first', [tcp(3, '0.0.0.0', 80), tcp(4, '::', 80)], { address: null, port: 80 }, 4],
  ['listen(80) gets one of IPv4 before a narrower one', [tcp(3, '127.0.0.1', 80), tcp(4, '0.0.0.0', 80)], { address: null, port: 80 }, 4],
  ["listen(80, '0.0.0.0') gets a narrower one, where there is no other", [tcp(3, '10.0.0.1', 80)], { address: '0.0.0.0', port: 80 }, 3],
  ["listen(80, '0.0.0.0') gets a socket on every address of both families", [tcp(3, '::', 80)], { address: '0.0.0.0', port: 80 }, 3],
  ["listen(80, '0.0.0.0') gets the one of its own family first", [tcp(3, '::', 80), tcp(4, '0.0.0.0', 80)], { address: '0.0.0.0', port: 80 }, 4],
  ["listen(80, '127.0.0.1') gets that one", [tcp(3, '::', 80), tcp(4, '127.0.0.1', 80)], { address: '127.0.0.1', port: 80 }, 4],
  ["listen(80, '127.0.0.1') does not get a wider one", [tcp(3, '::', 80)], { address: '127.0.0.1', port: 80 }, undefined],
  ["listen(80, '127.0.0.1') does not get another address's", [tcp(3, '10.0.0.1', 80)], { address: '127.0.0.1', port: 80 }, undefined],
  ['another port is another socket', [tcp(3, '::', 80)], { address: null, port: 81 }, undefined],
  ['listen(0) gets none', [tcp(3, '::', 80)], { address: null, port: 0 }, undefined],
  ['a path gets the socket of that path', [tcp(3, '::', 80), unix(4, '/run/a'), unix(5, '/run/b')], { address: '/run/b', port: -1 }, 5],
  ['another path gets none', [unix(4, '/run/a')], { address: '/run/c', port: -1 }, undefined],
  ['a port gets no unix socket', [unix(4, '/run/a')], { address: null, port: 80 }, undefined],
  ['listen({ fd }) gets that descriptor', [tcp(3, '::', 80), tcp(4, '::', 81)], { address: null, port: null, fd: 4 }, 4],
  ['a descriptor of 0 is one', [tcp(0, '::', 80), tcp(4, '::', 81)], { address: null, port: null, fd: 0 }, 0],
  ['a descriptor of null is none', [tcp(3, '::', 80)], { address: null, port: 80, fd: null }, 3],
  ['a descriptor of -1 is none', [tcp(3, '::', 80)], { address: null, port: 80, fd: -1 }, 3],
  ['listen({ fd }) of any other file gets none', [tcp(3, '::', 80)], { address: null, port: null, fd: 7 }, undefined]
]

for (const [title, sockets, query, fd] of CASES) {
  t.test(title, async t => t.equal(pickInherited(sockets, query)?.fd, fd))
}

t.test('an address is shown as in a URL', async t => {
  t.same([tcp(3, '::', 80), tcp(3, '127.0.0.1', 80), unix(3, '/run/a'), unix(3, '\0a')].map(addressOf), ['[::]:80', '127.0.0.1:80', '/run/a', '@a'])
})
