'use strict'

const t = require('tap')
const { oldSpaceLimit } = require('../../lib/core/old-space')

const MIB = 1024 ** 2

t.test('V8 ends a process by the size of its old generation, which its limit includes beside three semi-spaces', async t => {
  t.equal(oldSpaceLimit(112 * MIB, [], 11), 64 * MIB)
  t.equal(oldSpaceLimit(256 * MIB, [], 13), 64 * MIB)
  t.equal(oldSpaceLimit(160 * MIB, ['--max-semi-space-size=16', '--max_semi_space_size=32'], 11), 64 * MIB, 'the later flag wins')
  t.equal(oldSpaceLimit(10 * MIB, [], 11), MIB, 'never less')
})
