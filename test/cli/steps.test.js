'use strict'

/** The progress of a command: what it waits for, in a pipe and on a terminal. */

const t = require('tap')
const { openSteps, sayWait } = require('../../lib/cli/steps')

const WAIT = { slot: 0, pid: 4711, connections: 2, streams: 2, inFlight: 0, drainLeftMs: 20_400 }

/** @param {{ isTTY: boolean, columns?: number }} how */
function start (how) {
  let time = 0
  let text = ''
  const stream = {
    columns: 200, ...how, hasColors: () => false, write: (/** @type {string} */ more) => { text += more }
  }
  const steps = openSteps(/** @type {any} */ (stream), 'reload', () => time)
  return {
    /** @param {string} note */
    note (note) {
      text = ''
      steps.update({ done: 0, of: 3, note })
      return text
    },
    /** @param {number} t @param {Partial<import('../../lib/cli/steps').Wait>[]} waits */
    at (t, waits) {
      time = t
      text = ''
      steps.update({ done: 1, of: 3, waits: waits.map(wait => ({ ...WAIT, ...wait })) })
      return text
    }
  }
}

t.test('a wait is said with what keeps the worker and how long that may take', async t => {
  t.equal(sayWait(WAIT), 'slot 0 (4711): 2 streams (WebSockets, event streams), 21s left')
  t.equal(sayWait({ ...WAIT, connections: 3, streams: 0, inFlight: 1 }), 'slot 0 (4711): 1 request in flight, 2 other connections, 21s left')
  t.equal(sayWait({ ...WAIT, streams: 0 }), 'slot 0 (4711): 2 connections, 21s left')
  t.equal(sayWait({ ...WAIT, connections: 0, streams: 0 }), 'slot 0 (4711): its app, which has no connection open, 21s left')
  t.equal(sayWait({ ...WAIT, slot: null, connections: 0, streams: 0, drainLeftMs: null }), 'a standby (4711): the end of its process')
})

t.test('in a pipe each worker that drains for three seconds has a line, and the first has a hint', async t => {
  const steps = start({ isTTY: false })
  t.equal(steps.at(0, [{}]), '')
  t.equal(steps.at(2999, [{}]), '')
  t.match(steps.at(3000, [{}]), /^waiting for slot 0 \(4711\): 2 streams [^\n]+\n[^\n]+ a shorter --drain-timeout\n$/)
  t.equal(steps.at(4000, [{}, { slot: 1, pid: 4712 }]), '')
  t.match(steps.at(7000, [{}, { slot: 1, pid: 4712 }]), /^waiting for slot 1 \(4712\): [^\n]+\n$/)
  const ends = { connections: 0, streams: 0, drainLeftMs: null }
  t.equal(steps.at(8000, [ends]), '')
  t.match(steps.at(11_000, [ends, { slot: 1, pid: 4712 }]), /^waiting for slot 0 \(4711\): the end of its process\n[^\n]+ a shorter --kill-timeout\n$/, 'what helps then is another option')
  t.equal(steps.at(12_000, [ends, { ...ends, slot: 1, pid: 4712 }]), '')
})

t.test('on a terminal the bar has it, within the width', async t => {
  const steps = start({ isTTY: true, columns: 80 })
  t.match(steps.at(0, [{}, { slot: 1, pid: 4712 }]), /█{7}░{13} reload: 1 of 3; slot 0 \(4711\): 2 streams [^\n]{1,40}$/)
  t.ok(steps.at(1000, [{}]).replace(/^\r\x1b\[K/, '').length < 80) // eslint-disable-line no-control-regex
  t.match(steps.at(3000, [{}]), /waiting for slot 0 .*\n.*--drain-timeout\n█/)
})

t.test('what else is waited for: in a pipe a line as often as it begins otherwise, on a terminal with the bar', async t => {
  const pipe = start({ isTTY: false })
  t.equal(pipe.note('it warms up, 3s left'), 'it warms up, 3s left\n')
  t.equal(pipe.note('it warms up, 2s left'), '')
  t.equal(pipe.note('it is compared, 9s left'), 'it is compared, 9s left\n')
  const terminal = start({ isTTY: true })
  for (const left of [3, 2]) t.match(terminal.note(`it warms up, ${left}s left`), `reload: 0 of 3; it warms up, ${left}s left`)
})
