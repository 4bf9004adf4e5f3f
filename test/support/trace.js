'use strict'

/**
 * Whether the model of a fleet accepts the journal of a real one: what workers do by themselves (they come up, die,
 * have drained, are condemned) and what is commanded happens to the model too, and every process that the primary
 * starts or lets go must be one that the model starts or lets go, and the other way round. test/support/replay-plan.js
 * judges single steps; here the model goes its own way.
 *
 * The journal does not say when the primary has made its plans: what comes in one turn of its loop has one plan. So
 * there are several courses that the model may have taken, and the journal is accepted if one of them leads to its end.
 */

const assert = require('node:assert')
const { Course } = require('./course')
const { FleetModel, firstSlots } = require('./fleet-model')
const { recycleDelays } = require('./recycle-delays')

const TURN_MS = 300 // a plan comes so much later than a fact, at the most, on a busy machine
const MOST_COURSES = 64

/**
 * @param {Record<string, any>[]} lines of one primary, without standbys, from its start; the stop and what follows is
 *   left out
 * @returns {{ steps: number, refused: string[] }} `refused`: what the model does not do, or does alone, by the course
 *   with the fewest
 */
function trace (lines) {
  const started = lines.find(({ event }) => event === 'fleet.start')
  assert(started && started.options.standby === 0, 'a journal from its start, without standbys')
  const { workers, maxSurge, maxUnavailable } = started.options
  const model = new FleetModel({ slots: firstSlots(workers), generation: 0, standbys: 0, maxSurge, maxUnavailable })
  let courses = [new Course(model, started.options, recycleDelays(lines))]
  for (const [i, line] of lines.entries()) {
    if (line.event === 'fleet.stopping') break
    for (const course of courses) course.follow(line)
    const next = lines[i + 1]
    courses = likely(courses.flatMap(course =>
      course.planned({ canWait: next !== undefined && next.t - course.openSince <= TURN_MS })))
  }
  const { steps, refused } = courses[0]
  return { steps, refused }
}

/** Those with the fewest refused steps, each once. @param {Course[]} courses */
function likely (courses) {
  if (courses.length === 1) return courses
  const fewest = Math.min(...courses.map(({ refused }) => refused.length))
  const byKey = new Map(courses.filter(({ refused }) => refused.length === fewest).map(course => [course.key, course]))
  return [...byKey.values()].slice(0, MOST_COURSES)
}

module.exports = { trace }
