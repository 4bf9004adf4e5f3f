'use strict'

const t = require('tap')
const fc = require('fast-check')
const { NEXT, move } = require('../../lib/core/place')

t.test('a connection goes from place to place as the table says, and what is gone goes nowhere', async t => {
  const places = /** @type {(keyof typeof NEXT)[]} */ (Object.keys(NEXT))
  const place = fc.constantFrom(...places)
  fc.assert(fc.property(fc.array(place), steps => {
    steps.reduce((from, to) => {
      if (NEXT[from].includes(to)) return move(from, to)
      t.throws(() => move(from, to), { message: `a connection that is ${from} does not become ${to}` })
      return from
    }, /** @type {keyof typeof NEXT} */ ('here'))
  }), { numRuns: 20 })
  t.ok(Object.isFrozen(NEXT) && Object.values(NEXT).every(next => Object.isFrozen(next)))
  t.same(NEXT.gone, [])
  t.ok(places.every(place => place === 'gone' || NEXT[place].includes('gone')), 'each can end')
  t.notOk(['offered', 'lent', 'adopted', 'held'].some(from => NEXT[/** @type {'held'} */ (from)].includes('offered')), 'only what is read is offered')
})
