'use strict'

const fs = require('node:fs')
const t = require('tap')
const { descriptorProbe, hasDescriptors } = require('../../../lib/features/max-fds/descriptors')

const count = () => fs.readdirSync('/proc/self/fd').length - 1 // without the one that reads

t.test('it counts the descriptors of a process, and knows its limit', { skip: hasDescriptors() ? false : 'this system has no /proc' }, async t => {
  const probe = descriptorProbe(process.pid)
  const { fds, fdLimit } = await probe(0)
  t.ok(Math.abs(Number(fds) - count()) <= 1, `${fds} of ${count()}`)
  t.equal(fdLimit, Number(/^Max open files +(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))?.[1]))
  const opened = Array.from({ length: 50 }, () => fs.openSync('/dev/null'))
  const more = await probe(1e6)
  t.ok(Number(more.fds) >= Number(fds) + 50, `${more.fds}`)
  for (const fd of opened) fs.closeSync(fd)
})

t.test('of a process that is gone nothing is known', async t => {
  t.match(await descriptorProbe(2 ** 22 + 1)(0), { fds: null, fdLimit: null })
})
