'use strict'

const t = require('tap')
const { AT, Sweeps } = require('../../../lib/features/canary/bake')

/** A fleet of `serving` workers, in which a worker is out of rotation for `takesMs`. */
function scene ({ serving = 5, takesMs = 300, hasSessions = false } = {}) {
  let at = 0
  const taken = /** @type {string[]} */ ([])
  const kernel = /** @type {any} */ ({
    now: () => at,
    features: { hasSessions },
    fleet: { serving: () => Array.from({ length: serving }) },
    rotation: {
      take: async (/** @type {string} */ worker, /** @type {any} */ task) => {
        taken.push(`${worker} ${task.type}`)
        at += takesMs
      }
    }
  })
  let isOver = false
  const sweeps = new Sweeps(kernel, () => isOver)
  const workers = /** @type {any} */ ({ fresh: ['new'], old: ['a', 'b', 'c'] })
  const look = async (/** @type {number} */ share) => {
    const before = taken.length
    sweeps.look(share, workers)
    await new Promise(setImmediate)
    return taken.slice(before).map(text => text.split(' ')[0]).join('')
  }
  return { look, taken, end: () => { isOver = true } }
}

t.test('the workers of both codes collect at each moment once, those of the new code first', async t => {
  const { look, taken } = scene()
  t.same([await look(0), await look(0.1), await look(AT[1]), await look(AT[2] - 0.01), await look(1), await look(1)], ['newabc', '', 'newabc', '', 'newabc', ''])
  t.equal(taken[0], 'new collect')
})

t.test('none does any more when the comparison is over', async t => {
  const { look, end } = scene()
  const first = look(0)
  end()
  t.equal(await first, 'new')
})

t.test('none does where two workers serve, or requests belong to sessions', async t => {
  for (const how of [{ serving: 2 }, { hasSessions: true }]) t.equal(await scene(how).look(0), '')
})

t.test('none does again where a worker was away for long: its connections cannot move', async t => {
  const { look } = scene({ takesMs: 3000 })
  t.same([await look(0), await look(AT[1])], ['new', ''])
})
