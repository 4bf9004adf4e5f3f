'use strict'

const t = require('tap')
const { PREDECESSOR, SUCCESSOR, next } = require('../../lib/core/succession')

t.test('an event that does not belong to a state gives null', async t => {
  t.equal(next(PREDECESSOR, 'running', 'start'), 'starting')
  t.equal(next(PREDECESSOR, 'running', 'serving'), null)
  t.equal(next(SUCCESSOR, 'sole', 'gone'), null)
  t.equal(next(SUCCESSOR, 'booting', 'toString'), null)
  for (const table of [PREDECESSOR, SUCCESSOR]) {
    for (const to of Object.values(table).flatMap(events => Object.values(events))) t.ok(Object.hasOwn(table, to), `${to} is a state`)
  }
})

/**
 * Both machines together, with the messages on their way between them, and a death of either at any moment. A message
 * is read in its order, also after its sender's death, of which the other one hears behind the last.
 */
t.test('in every order of events and deaths, one primary runs the fleet in the end, and never do both', async t => {
  /**
   * `mayEnd`: the young one has not had the sockets, or has failed by itself.
   *
   * @typedef {{ old: string, young: string, toOld: string[], toYoung: string[], isOldAlive: boolean,
   *   isYoungAlive: boolean, hasFailed: boolean, mayEnd: boolean }} Scene
   */
  const SERVES = { old: ['running', 'starting', 'preparing', 'handing-over'], young: ['leading', 'sole'] }
  /** What each sends when it has entered a state. @type {Record<string, string>} */
  const SAYS = { 'old preparing': 'begin', 'old handing-over': 'go', 'old left': 'left', 'young waiting': 'prepared', 'young leading': 'serving' }
  const enter = (/** @type {Scene} */ scene, /** @type {'old' | 'young'} */ side, /** @type {string} */ state) => {
    const said = SAYS[`${side} ${state}`]
    return { ...scene, [side]: state, ...(said && (side === 'old' ? { toYoung: [...scene.toYoung, said] } : { toOld: [...scene.toOld, said] })) }
  }
  const step = (/** @type {Scene} */ scene, /** @type {'old' | 'young'} */ side, /** @type {string} */ event) => {
    const to = side === 'old' ? next(PREDECESSOR, /** @type {any} */ (scene.old), event) : next(SUCCESSOR, /** @type {any} */ (scene.young), event)
    const mayEnd = scene.mayEnd || (side === 'young' && (event === 'failed' || event === 'abort' || scene.young === 'booting'))
    return to === null ? scene : enter(to === 'ended' ? { ...scene, mayEnd } : scene, side, to)
  }
  const nexts = (/** @type {Scene} */ scene) => {
    const { old, young, toOld, toYoung, isOldAlive, isYoungAlive, hasFailed } = scene
    /** @type {Scene[]} */
    const found = []
    if (isOldAlive) {
      if (toOld.length > 0) found.push(step({ ...scene, toOld: toOld.slice(1) }, 'old', toOld[0]))
      else if (!isYoungAlive && old !== 'left') found.push(step(scene, 'old', 'gone'))
      if (isYoungAlive && old === 'leaving') found.push(step(scene, 'old', 'left'))
      // It is told to stop, or has waited too long: the other one is told to end, or is killed, and its death is waited
      // for.
      if (isYoungAlive && !hasFailed && (old === 'starting' || old === 'preparing')) found.push({ ...scene, hasFailed: true, toYoung: [...toYoung, 'abort'] })
      if (isYoungAlive && old === 'handing-over') found.push({ ...scene, isYoungAlive: false })
      found.push({ ...scene, isOldAlive: false })
    }
    if (isYoungAlive) {
      if (toYoung.length > 0) found.push(step({ ...scene, toYoung: toYoung.slice(1) }, 'young', toYoung[0]))
      else if (!isOldAlive) found.push(step(scene, 'young', 'gone'))
      if (young === 'preparing') found.push(step(scene, 'young', 'prepared'), step(scene, 'young', 'failed'))
      if (young === 'ended') found.push({ ...scene, isYoungAlive: false })
      found.push({ ...scene, isYoungAlive: false })
    }
    return found.filter(other => JSON.stringify(other) !== JSON.stringify(scene))
  }

  /** @type {Scene} */
  const first = { old: 'starting', young: 'booting', toOld: ['hello'], toYoung: [], isOldAlive: true, isYoungAlive: true, hasFailed: false, mayEnd: false }
  const seen = new Set([JSON.stringify(first)])
  const open = [first]
  let ends = 0
  /** @type {string[]} */
  const wrong = []
  for (let scene; (scene = open.pop());) {
    const { old, young, isOldAlive, isYoungAlive, toOld, toYoung } = scene
    const runs = { old: isOldAlive && SERVES.old.includes(old), young: isYoungAlive && SERVES.young.includes(young) }
    const followers = nexts(scene)
    const living = followers.filter(other => other.isOldAlive === isOldAlive && (other.isYoungAlive === isYoungAlive || young === 'ended'))
    const isEnd = living.length === 0 && !(isOldAlive && toOld.length > 0) && !(isYoungAlive && toYoung.length > 0)
    if (isEnd && (isOldAlive || isYoungAlive)) {
      ends++
      // A successor whose predecessor dies before it has the sockets ends; what is left then is a predecessor that has
      // left.
      const isExcused = (!isOldAlive && young === 'ended' && scene.mayEnd) || (!isYoungAlive && old === 'left')
      if (runs.old === runs.young && !isExcused) wrong.push(JSON.stringify(scene))
      if ((isOldAlive && !['running', 'left'].includes(old)) || (isYoungAlive && !['sole', 'ended'].includes(young))) wrong.push(`stuck: ${JSON.stringify(scene)}`)
    }
    // Both accept between `go` and `serving`, and never once the old workers leave.
    if (runs.old && runs.young && old !== 'handing-over' && !scene.hasFailed) wrong.push(`both: ${JSON.stringify(scene)}`)
    for (const other of followers) {
      const key = JSON.stringify(other)
      if (seen.has(key)) continue
      seen.add(key)
      open.push(other)
    }
  }
  t.same(wrong, [])
  t.ok(seen.size > 50 && ends > 3, `${seen.size} scenes, ${ends} ends`)
})
