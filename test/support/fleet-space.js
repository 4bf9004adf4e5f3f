'use strict'

/**
 * Every state that a small fleet can be in: from its first boot, by every order of boots, recycles and one fault. In
 * each state the model's checks of each step hold (fleet-model.js), and what is checked here; and from each state the
 * fleet converges.
 */

const assert = require('node:assert')
const { plan } = require('../../lib/core/plan')
const { FleetModel } = require('./fleet-model')

const ALWAYS = ['comesUp', 'drained', 'collected', 'look']
const FULL = 17 // the pick of `memory` by which there is no room
/** What can go wrong once, with what undoes it, if it does not pass by itself. */
const FAULTS = ['crash', 'diesEarly', 'givenUp', 'diesLeaving', 'overHard', 'memory']

/**
 * @typedef {{ model: FleetModel, condemns: number, fault: string | null, path: string[] }} Scene `path`: how it came to
 *   this
 */

/**
 * @param {import('../../lib/core/fleet-facts').Desired} desired
 * @param {{ condemns: number, commands?: { type: string, pick: number }[] }} bounds how many workers are condemned, and
 *   what commands come, each once
 * @returns {{ states: number, ends: number, faults: Set<string> }}
 */
function explore (desired, { condemns, commands = [] }) {
  const first = new FleetModel(desired)
  first.settle()
  /** @type {Scene[]} */
  const open = []
  const seen = new Set()
  /** @type {Set<string>} */
  const convergent = new Set()
  const faults = new Set()
  let ends = 0
  const meet = (/** @type {Scene} */ scene) => {
    const key = `${scene.model.key} ${scene.condemns} ${scene.fault} ${commands.filter(({ type }) => scene.path.includes(type)).length}`
    if (seen.has(key)) return
    seen.add(key)
    open.push(scene)
  }
  meet({ model: first, condemns, fault: null, path: [] })
  for (let scene; (scene = open.pop());) {
    if (scene.fault) faults.add(scene.fault)
    const nexts = [...choices(scene, commands)]
    try {
      checkState(scene)
      if (nexts.every(([type]) => type === 'condemn' || FAULTS.includes(type) || commands.some(command => command.type === type))) {
        ends++
        assert(scene.model.isAsDesired(), 'where nothing more happens, all is as desired')
      }
      scene.model.copy().converge(convergent)
      for (const [type, pick] of nexts) meet(step(scene, type, pick))
    } catch (error) {
      throw new Error(`after ${scene.path.join(', ') || 'nothing'}: ${/** @type {Error} */ (error).message}\n${scene.model.key}`, { cause: error })
    }
  }
  return { states: seen.size, ends, faults }
}

/** @param {Scene} scene @param {{ type: string, pick: number }[]} commands @returns {Generator<[string, number]>} */
function * choices ({ model, condemns, fault, path }, commands) {
  for (const type of ALWAYS) for (const pick of model.picks(type)) yield [type, pick]
  if (condemns > 0) for (const pick of model.picks('condemn')) yield ['condemn', pick]
  for (const type of fault ? [] : ['crash', 'diesEarly', 'givenUp', 'diesLeaving', 'overHard']) for (const pick of model.picks(type)) yield [type, pick]
  if (!fault) yield ['memory', FULL]
  if (model.memory) yield ['relief', 0]
  for (const { type, pick } of commands) if (!path.includes(type)) yield [type, pick]
  const { wakeAt } = plan(model.facts(), model.desired, model.now)
  if (wakeAt < Infinity) yield ['advance', wakeAt - model.now]
}

/** @param {Scene} scene @param {string} type @param {number} pick @returns {Scene} */
function step ({ model, condemns, fault, path }, type, pick) {
  const next = model.copy()
  if (type === 'relief') next.memory = null
  else next.happen(type, pick)
  next.settle()
  return { model: next, condemns: condemns - (type === 'condemn' ? 1 : 0), fault: FAULTS.includes(type) ? type : fault, path: [...path, type] }
}

/** @param {Scene} scene */
function checkState ({ model }) {
  const { slots: { length: workers }, maxUnavailable } = model.desired
  const staying = model.list().filter(model.staying)
  const awayByChoice = staying.filter(({ incumbent, isNew, hasCrashed }) => !isNew && !hasCrashed && !['ready', 'out-of-rotation'].includes(incumbent?.state))
  assert(awayByChoice.length <= maxUnavailable, `never fewer than promised: slots ${awayByChoice.map(({ slot }) => slot)} are empty by choice`)
  const out = model.list().filter(({ incumbent }) => incumbent?.state === 'out-of-rotation').length
  assert(out <= 1 && (out === 0 || model.serving() > 0), 'one is out of rotation, and only where another serves')
  const leaving = model.list().filter(slot => !model.staying(slot))
    .reduce((sum, { incumbent, leaving }) => sum + leaving.length + (incumbent ? 1 : 0), 0)
  assert(model.living - leaving <= workers + model.room, `never more than the surge: ${model.living} processes`)
  for (const { slot, incumbent, successor, recycle, isNew, boots, hasCrashed } of staying) {
    if (incumbent || successor || isNew || !hasCrashed || boots.notBefore > model.now) continue
    assert(recycle?.how === 'drain-first', `a slot whose worker has crashed is filled at once: slot ${slot} is not`)
  }
}

module.exports = { explore }
