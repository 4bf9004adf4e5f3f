'use strict'

/**
 * The state machine of a fleet, explored to its end. `npm run test:model` lets two workers be recycled, and holds the
 * model beside a real fleet (test/integration/model.test.js); in the suite it is one.
 */

const t = require('tap')
const { TRANSITIONS } = require('../../lib/core/state')
const { extent } = require('../support/campaign')
const { explore } = require('../support/fleet-space')
const { firstSlots, transitionsSeen } = require('../support/fleet-model')

const RECYCLES = extent({ short: 1, long: 2 })
t.setTimeout(600_000)

for (const [name, limits] of Object.entries({
  'a surge of one': { standbys: 0, maxSurge: 1, maxUnavailable: 0 },
  'drain first': { standbys: 0, maxSurge: 0, maxUnavailable: 1 },
  'a surge of one, and one may be missing': { standbys: 0, maxSurge: 1, maxUnavailable: 1 },
  'a surge of two': { standbys: 0, maxSurge: 2, maxUnavailable: 0 },
  'a standby': { standbys: 1, maxSurge: 1, maxUnavailable: 0 }
})) {
  t.test(`every order of ${RECYCLES} recycle${RECYCLES > 1 ? 's' : ''}, boots and any one fault of three workers, with ${name}, keeps what the plan promises and converges`, async t => {
    const { states, ends, faults } = explore({ slots: firstSlots(3), generation: 0, ...limits }, { condemns: RECYCLES })
    t.same([...faults].sort(), ['crash', 'diesEarly', 'diesLeaving', 'givenUp', 'memory', 'overHard'])
    t.ok(states > 2000 && ends > 100, `${states} states, ${ends} ends`)
  })
}

t.test('so does every order of a fault and commands to two workers', async t => {
  const desired = { slots: firstSlots(2), generation: 0, standbys: 0, maxSurge: 1, maxUnavailable: 0 }
  const reload = { type: 'reload', pick: 0 }
  for (const [name, limits, commands] of /** @type {[string, any, any[]][]} */ ([
    ['a reload and fewer workers', {}, [reload, { type: 'scale', pick: 1 }]],
    ['a reload and more workers', {}, [reload, { type: 'scale', pick: 3 }]],
    ['a reload, with a standby', { standbys: 1 }, [reload]]
  ])) {
    const { states } = explore({ ...desired, ...limits }, { condemns: RECYCLES - 1, commands })
    t.ok(states > 500, `${name}: ${states} states`)
  }
})

t.test('these are all transitions that the table of states has', async t => {
  const all = Object.entries(TRANSITIONS).flatMap(([from, to]) => to.map(to => `${from} ${to}`))
  t.equal([...transitionsSeen].sort().join(), all.sort().join())
})
