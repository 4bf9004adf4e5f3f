'use strict'

const t = require('tap')
const { Loads } = require('../../../lib/primary/handoff/loads')
const { Placement } = require('../../../lib/primary/handoff/placement')

const KEY = '127.0.0.1:80:4::0'

/** What a placement reads of a worker. @param {string} name @param {Record<string, any>} [facts] @returns {any} */
const worker = (name, facts) => ({
  name, connections: 0, isGone: false, window: 1, addresses: new Set([KEY]), ...facts
})

/** Loads of a moment: what was given does not become less. */
class LoadsOfNow extends Loads {
  /** @override @param {any} handle */
  of (handle) {
    return super.of(handle, 0)
  }

  /** @override @param {any} handle @param {number} load */
  give (handle, load) {
    super.give(handle, load, 0)
  }
}

/** @param {any[]} serving @param {{ successor?: any, owner?: any, isOver?: boolean }} [how] @returns {any} */
const placementOf = (serving, { successor = null, owner = null, isOver = false } = {}) =>
  new Placement(() => serving, () => successor, /** @type {any} */ ({ isOver, find: () => owner }))

/**
 * A connection of this sender; `bytes`: with a request, or undefined.
 *
 * @param {any} sender @param {Record<string, any>} [facts]
 */
const connection = (sender, { id = ++lastId, session, bytes = 'AA==', tried = [sender], isAnyones = false } = {}) =>
  ({ id, sender, parcel: { key: KEY, leftMs: null, session, bytes }, tried: new Set(tried), isAnyones })

const sender = worker('sender')
let lastId = 0

t.test('the least connected worker is chosen, of those that take it and were not asked before', async t => {
  const [dead, elsewhere, busy, idle] = [worker('dead', { isGone: true }), worker('elsewhere', { addresses: new Set() }), worker('busy', { connections: 9 }), worker('idle', { connections: 2 })]
  const placement = placementOf([sender, dead, elsewhere, busy, idle])
  t.equal(placement.find(connection(sender)).to, idle)
  t.equal(placement.find(connection(sender, { tried: [sender, idle] })).to, busy)
  t.equal(placement.find(connection(sender, { tried: [sender, idle, busy] })).why, 'none')
})

t.test('a connection that makes load goes to the least busy worker, with what that has just been given; one that makes none to the least connected', async t => {
  const [busy, idle] = [worker('busy', { connections: 2, latest: { elu: 0.6 } }), worker('idle', { connections: 9, window: 256, latest: { elu: 0.1 } })]
  const placement = placementOf([sender, busy, idle])
  placement.loads = new LoadsOfNow()
  const making = (/** @type {number | undefined} */ load) => {
    const placed = connection(sender)
    return placement.find(/** @type {any} */ ({ ...placed, parcel: { ...placed.parcel, load } })).to
  }
  t.same([making(undefined), making(0.00005), making(0.2)].map(({ name }) => name), ['busy', 'busy', 'idle'])
  placement.sent(idle, 1, 0.3)
  t.equal(making(0.2), idle)
  placement.sent(idle, 1, 0.4)
  t.equal(making(0.2), busy)
})

t.test('a connection that makes load goes to no worker that rests, unless all do', async t => {
  const [awake, resting] = [worker('awake', { connections: 9, latest: { elu: 0.9 } }), worker('resting', { latest: { elu: 0 } })]
  const placement = placementOf([sender, awake, resting])
  placement.loads.resting = new Set([sender, resting])
  const making = (/** @type {number} */ load, tried = [sender]) => {
    const placed = connection(sender, { tried })
    return placement.find(/** @type {any} */ ({ ...placed, parcel: { ...placed.parcel, load } })).to
  }
  t.equal(making(0.2), awake)
  t.equal(making(0), resting)
  t.equal(making(0.2, [sender, awake]), resting, 'where no other takes it')
})

t.test('among equals the sender\'s successor is chosen, and what is under way counts', async t => {
  const [first, successor] = [worker('first', { window: 256 }), worker('successor', { window: 256 })]
  const placement = placementOf([first, successor], { successor })
  const order = Array.from({ length: 4 }, () => {
    const { to } = placement.find(connection(sender))
    placement.sent(to, ++lastId)
    return to.name
  })
  t.same(order, ['successor', 'first', 'successor', 'first'])
})

t.test('a receiver has one socket under way, and with batches 256; each answer makes room', async t => {
  for (const window of [1, 256]) {
    const receiver = worker('receiver', { window })
    const placement = placementOf([receiver])
    let sent = 0
    for (; placement.find(connection(sender)).to; sent++) placement.sent(receiver, sent)
    t.equal(sent, window)
    t.equal(placement.find(connection(sender)).why, 'full')
    t.equal(placement.answered(receiver, 0), true)
    t.equal(placement.answered(receiver, 0), false, 'an answer that was not asked for')
    t.equal(placement.find(connection(sender)).to, receiver)
  }
})

t.test('a silent receiver gets nothing until it answers', async t => {
  const [receiver, other] = [worker('receiver'), worker('other', { connections: 5 })]
  const placement = placementOf([receiver, other])
  placement.sent(receiver, 1)
  placement.timedOut(receiver)
  t.equal(placement.find(connection(sender)).to, other)
  t.equal(placement.isSilenceInTheWay(connection(sender)), true)
  placement.answered(receiver, 1)
  t.equal(placement.find(connection(sender)).to, receiver)
  t.equal(placement.isSilenceInTheWay(connection(sender)), false)
})

t.test('a worker that has died has nothing under way', async t => {
  const receiver = worker('receiver')
  const placement = placementOf([receiver])
  placement.sent(receiver, 1)
  placement.forget(receiver)
  t.equal(placement.find(connection(sender)).to, receiver)
})

t.test('a request of a session goes to its owner alone', async t => {
  const [owner, other] = [worker('owner', { connections: 100 }), worker('other')]
  const of = (/** @type {any} */ how, facts = {}) => placementOf([owner, other], how).find(connection(sender, { session: 's', ...facts }))
  t.strictSame(of({ owner }), { to: owner, isOwned: true, why: null })
  t.equal(of({ owner: sender }).why, 'sender')
  t.equal(of({ owner }, { tried: [] }).to, owner)
  t.equal(of({ owner: null }).why, 'ownerless')
  t.equal(of({ owner: null, isOver: true }).why, 'refused', 'the fleet is another primary\'s by now')
  t.equal(of({ owner }, { tried: [sender, owner] }).why, 'refused')
  t.equal(of({ owner: worker('elsewhere', { addresses: new Set() }) }).why, 'refused')
  t.strictSame(of({ owner }, { isAnyones: true }), { to: other, isOwned: false, why: null })
})

t.test('an idle connection of a session goes to its owner where that takes it now, and else to any worker', async t => {
  const [owner, other] = [worker('owner', { connections: 100 }), worker('other')]
  const idle = connection(sender, { session: 's' })
  idle.parcel.bytes = undefined
  t.equal(placementOf([owner, other], { owner }).find(idle).to, owner)
  t.strictSame(placementOf([owner, other]).find(idle), { to: other, isOwned: false, why: null }, 'no worker has its session')
  t.equal(placementOf([owner, other], { owner: sender }).find(idle).why, 'sender')
  const placement = placementOf([owner, other], { owner })
  placement.timedOut(owner)
  t.equal(placement.find(idle).to, other, 'its owner is silent')
})

t.test('a session\'s owner that is silent, or has no room, is waited for', async t => {
  const [owner, other] = [worker('owner'), worker('other')]
  const placement = placementOf([owner, other], { owner })
  placement.sent(owner, 1)
  t.equal(placement.find(connection(sender, { session: 's' })).why, 'full')
  placement.timedOut(owner)
  t.equal(placement.find(connection(sender, { session: 's' })).why, 'silent')
})

t.test('a request of a session that any worker may handle waits while those that would are silent: its sender would offer it again at once', async t => {
  const other = worker('other')
  const placement = placementOf([sender, other], { isOver: true })
  placement.sent(other, 1)
  placement.timedOut(other)
  const request = connection(sender, { session: 's', isAnyones: true })
  t.equal(placement.find(request).why, 'silent')
  t.equal(placement.find({ ...request, parcel: { ...request.parcel, bytes: undefined } }).why, 'none', 'an idle one goes back')
  t.equal(placement.find(connection(sender)).why, 'none', 'and so does one without a session')
  placement.answered(other, 1)
  t.equal(placement.find(request).to, other)
})
