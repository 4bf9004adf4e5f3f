'use strict'

require('../support/bare-children') // with tap's loader V8 may enlarge it before the first line of a program runs
const { execFileSync } = require('node:child_process')
const t = require('tap')

const FILE = require.resolve('../../lib/cli/young-generation')

/** In a process of its own, where objects survive. @param {'keepSmall' | 'mayGrow'} how @returns {number} bytes */
function sizeAfter (how) {
  const program = `
    const v8 = require('node:v8')
    require(${JSON.stringify(FILE)}).${how}()
    const kept = []
    for (let i = 0; i < 3_000_000; i++) kept[i % 300_000] = { i }
    console.log(v8.getHeapSpaceStatistics().find(space => space.space_name === 'new_space').space_size)`
  return Number(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }))
}

t.test('the young generation stays at its first size where objects survive, and grows where it may', async t => {
  const [small, grown] = [sizeAfter('keepSmall'), sizeAfter('mayGrow')]
  t.comment(`${small / 1024} KiB, ${grown / 1024} KiB`)
  t.ok(small <= 3 * 1024 * 1024, `${small} bytes`)
  t.ok(grown >= 4 * small, `${grown} bytes`)
})
