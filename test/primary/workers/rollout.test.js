'use strict'

const t = require('tap')
const { Rollout } = require('../../../lib/primary/workers/rollout')

t.test('where replacements fail, workers are spawned by the code before again, as long as they can be', async t => {
  const rollout = new Rollout()
  const stop = (/** @type {boolean} */ isThere) => {
    const wanted = rollout.begin(true)
    /** @type {number[][]} */
    const asked = []
    while (!rollout.failed('it exits', (...codes) => { asked.push(codes); return isThere })) t.equal(rollout.generation, wanted)
    return asked
  }
  t.same(stop(true), [[0, 1]])
  t.match([rollout.generation, rollout.stopped], [0, { generation: 1, isReplaced: false }])
  t.same(stop(false), [[0, 2]])
  t.match([rollout.generation, rollout.stopped], [2, { generation: 2, isReplaced: true }])
  rollout.finish(rollout.begin(true))
  t.same(stop(true), [[3, 4]])
  t.equal(rollout.generation, 3)
})

t.test('code on trial that has been promoted leaves as the fleet goes back', async t => {
  const rollout = new Rollout()
  rollout.try([2])
  t.equal(rollout.isOnTrial, true)
  rollout.promote()
  t.same([rollout.isOnTrial, rollout.of(2)], [false, 1])
  t.equal(rollout.goBack(), 2)
  t.match(rollout, { trial: null, generation: 2 })
  t.equal(rollout.requested(1), 'reload')
})

t.test('what another primary has had is older than what this one runs, and than what comes when it has workers', async t => {
  const rollout = new Rollout()
  rollout.follow(7)
  t.match(rollout, { generation: 8, proven: 8 })
  t.equal(rollout.requested(7), null)
  rollout.follow(9, true)
  t.equal(rollout.generation, 8)
  t.equal(rollout.begin(true), 10)
})

t.test('no reload, no requested', async t => {
  const rollout = new Rollout()
  t.equal(rollout.generation, 0)
  t.equal(rollout.requested(0), null)
  t.equal(rollout.failed('it exits'), false)
  t.equal(rollout.wasStopped(0), false)
})

t.test('a reload replaces every worker that is older than itself', async t => {
  const rollout = new Rollout()
  t.equal(rollout.begin(true), 1)
  t.equal(rollout.requested(0), 'reload')
  t.equal(rollout.requested(1), null)
  t.equal(rollout.generation, 1, 'workers spawned now belong to it')
  rollout.finish(1)
  t.equal(rollout.requested(0), null)
})

t.test('a reload joins the one before it as long as no worker of that generation has been spawned', async t => {
  const rollout = new Rollout()
  const first = rollout.begin(true)
  t.equal(rollout.begin(false), first)
  t.equal(rollout.requested(first), null, 'no worker is replaced twice')
  t.equal(rollout.requested(0), 'reload')
})

t.test('overlapping reloads coalesce into the newest', async t => {
  const rollout = new Rollout()
  const [first, second] = [rollout.begin(true), rollout.begin(true)]
  t.equal(rollout.requested(first), 'reload')
  rollout.finish(first)
  t.equal(rollout.requested(first), 'reload', 'the end of the first does not end the second')
  rollout.finish(second)
  t.equal(rollout.requested(first), null)
})

t.test('three failures in a row stop it', async t => {
  const rollout = new Rollout()
  const generation = rollout.begin(true)
  t.same([rollout.failed('it exits'), rollout.failed('it exits'), rollout.failed('it exits')], [false, false, true])
  t.equal(rollout.wasStopped(generation), true)
  t.same(rollout.stopped, { generation, failures: 3, why: 'it exits', isReplaced: true })
  t.equal(rollout.requested(0), null, 'the old workers stay')
  t.equal(rollout.failed('it exits'), false, 'it is stopped once')
  rollout.begin(true)
  t.equal(rollout.stopped, null, 'the next one is under way')
})

t.test('a success resets the count', async t => {
  const rollout = new Rollout()
  const generation = rollout.begin(true)
  rollout.failed('it exits')
  rollout.failed('it exits')
  rollout.succeeded()
  t.same([rollout.failed('it exits'), rollout.failed('it exits')], [false, false])
  t.equal(rollout.wasStopped(generation), false)
})

t.test('a stop ends the reloads that had joined, and no later one', async t => {
  const rollout = new Rollout()
  const [first, second] = [rollout.begin(true), rollout.begin(true)]
  for (let n = 0; n < Rollout.PATIENCE; n++) rollout.failed('it exits')
  t.same([rollout.wasStopped(first), rollout.wasStopped(second)], [true, true])
  const third = rollout.begin(true)
  t.equal(rollout.wasStopped(third), false)
  t.equal(rollout.requested(second), 'reload')
  t.same([rollout.failed('it exits'), rollout.failed('it exits')], [false, false], 'its count of failures is its own')
})

t.test('code on trial has a generation of its own, and no worker is replaced for it', async t => {
  const rollout = new Rollout()
  t.equal(rollout.try([4]), 1)
  t.match(rollout, { generation: 0, trial: { generation: 1, slots: [4] } })
  t.same([rollout.of(0), rollout.of(4), rollout.of(null)], [0, 1, 0])
  t.equal(rollout.requested(0), null)
  t.equal(rollout.failed('it exits'), false, 'the fleet is not being reloaded')
})

t.test('promoted, it is what all are to run; its slots stay until they do', async t => {
  const rollout = new Rollout()
  rollout.try([4])
  t.equal(rollout.promote(), 1)
  t.match(rollout, { generation: 1, trial: { slots: [4] } })
  t.equal(rollout.requested(0), 'reload')
  rollout.finish(1)
  t.equal(rollout.trial, null)
})

t.test('a reload to promoted code that is stopped ends the trial, too', async t => {
  const rollout = new Rollout()
  rollout.try([4])
  rollout.promote()
  for (let i = 0; i < Rollout.PATIENCE; i++) rollout.failed('it exits')
  t.equal(rollout.trial, null)
  t.ok(rollout.wasStopped(1))
})

t.test('rejected, the code before is spawned on, unless it is there no more; the next reload has a new generation', async t => {
  for (const isReplaced of [false, true]) {
    const rollout = new Rollout()
    rollout.try([4])
    rollout.reject(isReplaced)
    t.match(rollout, { generation: isReplaced ? 1 : 0, trial: null })
    t.equal(rollout.requested(0), null)
    t.equal(rollout.begin(false), 2)
    t.equal(rollout.requested(1), 'reload')
  }
})
