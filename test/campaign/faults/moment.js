'use strict'

/** The moment of a fault, and the steps at which a worker can be hit. */

const { setTimeout: sleep } = require('node:timers/promises')

/** @typedef {import('../fleet').CampaignFleet} CampaignFleet */
/** @typedef {import('.').Scene} Scene */

const EVENTS = ['worker.condemn', 'worker.spawn', 'worker.ready', 'worker.drain', 'worker.drain', 'worker.retire']
const MOST_MS = 15_000 // for the step that a fault waits for

/** As long as a fault waits for something; nothing waits for it. */
const longEnough = () => sleep(MOST_MS, undefined, { ref: false })

/** @template T @param {() => number} random @param {readonly T[]} list */
const oneOf = (random, list) => list[Math.floor(random() * list.length)]

/**
 * A moment: of a fleet that is at rest, or some ms after a step of a recycle that is begun for it.
 *
 * @param {Scene} scene
 * @returns {Promise<{ victim: number, other: number, old: number, recycled: Promise<unknown> }>}
 */
async function moment ({ fleet, random }) {
  const serving = (await fleet.workers()).filter(({ state }) => state === 'ready')
  const { slot, pid: old } = oneOf(random, serving)
  const other = serving.find(worker => worker.pid !== old)?.pid ?? old
  if (random() < 0.3) return { victim: old, other, old, recycled: Promise.resolve() }
  const event = oneOf(random, EVENTS)
  const isGc = random() < 0.2
  const reached = isGc ? next(fleet, 'worker.out-of-rotation') : next(fleet, event)
  const recycled = fleet.call(isGc ? 'gc' : 'recycle', { target: String(slot) })
  await Promise.race([reached, recycled, longEnough()])
  await sleep(random() ** 2 * 80)
  const replacement = fleet.events.all('worker.spawn').at(-1)?.pid ?? old
  return { victim: oneOf(random, [old, replacement, other]), other, old, recycled }
}

/**
 * The next one of its kind.
 *
 * @param {CampaignFleet} fleet @param {string} event
 * @returns {Promise<Record<string, any> | undefined>} undefined: it has not come
 */
function next (fleet, event) {
  return new Promise(resolve => {
    const end = (/** @type {Record<string, any> | undefined} */ line) => {
      fleet.events.removeListener('line', hear)
      resolve(line)
    }
    const hear = (/** @type {Record<string, any>} */ line) => { if (line.event === event) end(line) }
    fleet.events.on('line', hear)
    longEnough().then(() => end(undefined))
  })
}

module.exports = { moment, next, oneOf, longEnough }
