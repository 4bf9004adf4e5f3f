'use strict'

const t = require('tap')
const { Rollout } = require('../../../lib/primary/workers/rollout')

t.test('no reload, no requested', async t => {
  const rollout = new Rollout()
  t.equal(rollout.generation, 0)
  t.equal(rollout.requested(0), null)
  t.equal(rollout.failed(), false)
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
  t.same([rollout.failed(), rollout.failed(), rollout.failed()], [false, false, true])
  t.equal(rollout.wasStopped(generation), true)
  t.equal(rollout.requested(0), null, 'the old workers stay')
  t.equal(rollout.failed(), false, 'it is stopped once')
})

t.test('a success resets the count', async t => {
  const rollout = new Rollout()
  const generation = rollout.begin(true)
  rollout.failed()
  rollout.failed()
  rollout.succeeded()
  t.same([rollout.failed(), rollout.failed()], [false, false])
  t.equal(rollout.wasStopped(generation), false)
})

t.test('a stop ends the reloads that had joined, and no later one', async t => {
  const rollout = new Rollout()
  const [first, second] = [rollout.begin(true), rollout.begin(true)]
  for (let n = 0; n < Rollout.PATIENCE; n++) rollout.failed()
  t.same([rollout.wasStopped(first), rollout.wasStopped(second)], [true, true])
  const third = rollout.begin(true)
  t.equal(rollout.wasStopped(third), false)
  t.equal(rollout.requested(second), 'reload')
  t.same([rollout.failed(), rollout.failed()], [false, false], 'its count of failures is its own')
})
