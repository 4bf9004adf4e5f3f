'use strict'

const t = require('tap')
const { portOf, nameOf, isOwnPath, unevenAddresses, listUneven, isEvading, urlOf } = require('../../lib/core/address')

const PORT = 'null:3000:4:undefined#0'
const FREE = 'null:0:4:#0'
const PATH = '/run/shop.4321.sock:-1:-1:#0'

t.test('a key has a port, and a name for people', async t => {
  t.same([PORT, '::1:3000:6:#1', FREE, PATH, 'a'].map(portOf), [3000, 3000, 0, -1, -1])
  t.same([PORT, '::1:3000:6:#1', FREE, PATH].map(nameOf), [':3000', '::1:3000', 'a port that is free', '/run/shop.4321.sock'])
})

t.test('a path with the pid of its worker in it is that worker\'s alone', async t => {
  t.equal(isOwnPath(PATH, 4321), true)
  t.equal(isOwnPath(PATH, 432), false)
  t.equal(isOwnPath(PORT, 3000), false, 'a port is not')
  t.equal(isOwnPath(FREE, 4), false, 'nor any port that is free')
})

t.test('ports that some workers alone listen on are uneven; paths are not looked at', async t => {
  t.same(unevenAddresses([{ slot: 0, keys: [PORT, PATH] }, { slot: 1, keys: [PORT] }]), [])
  t.same(unevenAddresses([{ slot: 0, keys: [PORT] }, { slot: 1, keys: [FREE] }, { slot: 2, keys: [FREE] }]), [
    { address: ':3000', slots: [0] }, { address: 'a port that is free', slots: [1, 2] }
  ])
  t.equal(listUneven([{ address: ':3000', slots: [0] }, { address: 'a port that is free', slots: [1, 2] }]), ':3000 in slot 0 alone; a port that is free in slot 1, 2 alone')
})

t.test('an app evades a port that it has tried, or for which it takes any that is free; one that takes another one means to', async t => {
  const worker = (/** @type {string[]} */ asked, /** @type {number[]} */ tried = [], /** @type {string[]} */ known = [
    PORT
  ]) => ({ asked, tried: new Set(tried), known })
  t.equal(isEvading(PORT, worker([FREE], [0])), true)
  t.equal(isEvading(PORT, worker(['null:3001:4:#0'], [3000, 3001])), true)
  t.equal(isEvading(PORT, worker(['null:4000:4:#0'], [4000])), false)
  t.equal(isEvading(PORT, worker([FREE], [0], [PORT, FREE])), false, 'it has listened on a free one before')
  t.equal(isEvading(PATH, worker([FREE], [0])), false)
  t.equal(isEvading(FREE, worker(['null:4000:4:#0'], [0])), false, 'any that is free cannot be taken')
  t.equal(isEvading('null:1:4:#0', worker([], [1])), true)
  t.equal(isEvading('null:3000:4:#1', worker(['null:3000:4:#0'], [3000])), false, 'it has another server there')
})

t.test('an address is a URL for people; any address is localhost, and a path has none', async t => {
  const at = (/** @type {string} */ address) => urlOf({ address, port: 80 }, false)
  t.same(['0.0.0.0', '::', '::1', '10.0.0.1'].map(at), ['http://localhost:80', 'http://localhost:80', 'http://[::1]:80', 'http://10.0.0.1:80'])
  t.equal(urlOf({ address: '::', port: 443 }, true), 'https://localhost:443')
  t.equal(urlOf({}, false), null)
})
