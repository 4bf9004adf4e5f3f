'use strict'

/**
 * The lines of a journal, and the life of each worker in it, by docs/journal.md: for invariants.js.
 *
 * @typedef {{ t: number, event: string } & Record<string, any>} Line
 */

const LEAVES = ['worker.retire', 'worker.crash']

/**
 * @param {string} text NDJSON
 * @returns {{ lines: Line[], torn: number }} `torn`: lines that are not JSON objects with a time and an event
 */
function readLines (text) {
  /** @type {Line[]} */
  const lines = []
  let torn = 0
  for (const row of text.split('\n')) {
    if (row === '') continue
    try {
      const line = JSON.parse(row)
      if (line === null || typeof line !== 'object' || !Number.isFinite(line.t) || typeof line.event !== 'string') torn++
      else lines.push(line)
    } catch {
      torn++
    }
  }
  return { lines, torn }
}

/**
 * @typedef {{ from: number, drainAt: number, to: number, ends: number, accounts: number, slot: number | null,
 *   aside: { from: number, to: number }[] }} Life `aside`: out of rotation
 */

/**
 * @param {Line[]} lines @param {(rule: string, t: number, what: string) => void} found
 * @returns {Map<number, Life>} by pid
 */
function livesOf (lines, found) {
  /** @type {Map<number, Life>} */
  const lives = new Map()
  let isOver = false
  for (const line of lines) {
    if (line.event === 'fleet.stop') isOver = true
    // Of a place; of what it leaves behind
    if (!line.event.startsWith('worker.') || line.pid === null || ['worker.not-ready', 'worker.children'].includes(line.event)) continue
    const life = lives.get(line.pid)
    if (line.event === 'worker.spawn') {
      if (life && life.to === Infinity) found('pid', line.t, `worker ${line.pid} is spawned twice`)
      lives.set(
        line.pid, { from: line.t, drainAt: Infinity, to: Infinity, ends: 0, accounts: 0, slot: line.slot, aside: [] }
      )
    } else if (!life) {
      found('pid', line.t, `${line.event} of ${line.pid}, which has not been spawned`)
    } else if (LEAVES.includes(line.event)) {
      life.ends++
      if (life.ends > 1) found('pid', line.t, `worker ${line.pid} has exited twice`)
      life.to = line.t
    } else if (line.event === 'worker.drain') {
      life.drainAt = line.t
    } else if (line.event === 'worker.out-of-rotation' && life.to === Infinity) {
      life.aside.push({ from: line.t, to: Infinity })
    } else if (line.event === 'worker.in-rotation' && (life.to === Infinity || line.why !== null)) {
      Object.assign(life.aside.at(-1) ?? {}, { to: line.t })
    } else if (life.to !== Infinity && line.event !== 'worker.sample') {
      found('pid', line.t, `${line.event} of ${line.pid}, which has exited`)
    }
  }
  if (isOver) for (const [pid, { to, from }] of lives) if (to === Infinity) found('pid', from, `worker ${pid} has no end in the journal`)
  return lives
}

module.exports = { LEAVES, livesOf, readLines }
