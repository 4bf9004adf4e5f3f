'use strict'

/**
 * Growth between two readings or more: the samples that have come, less those that have gone, by the function
 * that has allocated them. What was allocated and freed meanwhile is in neither reading.
 *
 * @typedef {{ came: Weights, gone: Weights }} Change
 *
 * @typedef {Estimate & { at: Frame, callers: Frame[], by: Frame | null, halves: Estimate[] }} Row `callers`, `by`: of
 *   the stack that has grown most; see frames.js; `halves`: of the first and the second half of the time, where there
 *   was a reading in between
 * @typedef {Frame & { bytes: number, children: Branch[] }} Branch `bytes`: the growth that this function has allocated
 *   itself
 * @typedef {{ total: Estimate, halves: Estimate[], rows: Row[], tree: Branch[] }} Growth
 */

const { addUp } = require('../../core/fields')
const { fold } = require('./frames')
/** @import { Frame } from './frames' */
/** @import { Reading, Stacks } from './samples' */

const MOST_ROWS = 25
const LEAST_IN_HALF = 40 // requests
const LEAST_SHARE = 1 / 500 // of the growth, to be in the tree

/**
 * @param {Reading} before @param {Reading} after @param {number} intervalBytes
 * @returns {Map<number, Change>} by the node of its stack
 */
function compare (before, after, intervalBytes) {
  /** @type {Map<number, Change>} */
  const changes = new Map()
  const changeOf = (/** @type {number} */ stack) => {
    const change = changes.get(stack) ?? { came: noWeights(), gone: noWeights() }
    changes.set(stack, change)
    return change
  }
  let [i, j] = [0, 0]
  while (i < before.ordinals.length || j < after.ordinals.length) {
    const [a, b] = [before.ordinals[i] ?? Infinity, after.ordinals[j] ?? Infinity]
    if (a < b) addWeight(changeOf(before.stacks[i]).gone, before.sizes[i], intervalBytes)
    if (b < a) addWeight(changeOf(after.stacks[j]).came, after.sizes[j], intervalBytes)
    if (a <= b) i++
    if (b <= a) j++
  }
  return changes
}

/** @param {Iterable<Change>} changes @param {number} intervalBytes @returns {Estimate} */
function sumOf (changes, intervalBytes) {
  const [came, gone] = [noWeights(), noWeights()]
  for (const change of changes) {
    addUp(came, change.came)
    addUp(gone, change.gone)
  }
  return difference(came, gone, intervalBytes)
}

/**
 * @param {readonly Reading[]} readings two or more, in the order of time
 * @param {readonly number[]} requests of the worker so far, at each @param {Stacks} stacks
 * @param {{ intervalBytes: number, isWhole?: boolean, isIgnored?: (frame: Frame) => boolean }} how `isWhole`: nothing
 *   is folded; `isIgnored`: what such a function has allocated does not count
 * @returns {Growth}
 */
function growthOf (readings, requests, stacks, { intervalBytes, isWhole = false, isIgnored = () => false }) {
  const counts = (/** @type {number} */ node) =>
    node !== -1 && !stacks.pathOf(node).some(at => isIgnored(stacks.frameOf(at)))
  const between = (/** @type {Reading} */ from, /** @type {Reading} */ to) =>
    new Map([...compare(from, to, intervalBytes)].filter(([node]) => counts(node)))
  const [first, last] = [readings[0], readings[readings.length - 1]]
  const all = between(first, last)
  const at = middleOf(requests)
  const middle = at === null ? null : readings[at]
  const halves = middle === null ? [] : [between(first, middle), between(middle, last)]

  const folded = new Map([...new Set([all, ...halves].flatMap(changes => [...changes.keys()]))].map(node =>
    [node, foldNode(node, stacks, isWhole)]))
  const byPlace = (/** @type {Map<number, Change>} */ changes) =>
    groupBy(changes, ([node]) => folded.get(node)?.key ?? '')
  const places = byPlace(all)
  const halvesByPlace = halves.map(byPlace)
  const estimate = (/** @type {[number, Change][] | undefined} */ entries) =>
    sumOf((entries ?? []).map(([, change]) => change), intervalBytes)
  const rows = [...places].flatMap(([key, entries]) => {
    const whole = estimate(entries)
    if (key === '' || whole.bytes <= 0) return []
    const net = (/** @type {[number, Change]} */ [, { came, gone }]) => came.sum - gone.sum
    const [most] = entries.reduce((best, entry) => net(entry) > net(best) ? entry : best)
    const { at, callers, by } = /** @type {NonNullable<ReturnType<typeof foldNode>>} */ (folded.get(most))
    return [{ ...whole, at, callers, by, halves: halvesByPlace.map(half => estimate(half.get(key))) }]
  })
  return {
    total: sumOf(all.values(), intervalBytes),
    halves: halves.map(half => sumOf(half.values(), intervalBytes)),
    rows: rows.sort((a, b) => b.bytes - a.bytes).slice(0, MOST_ROWS),
    tree: treeOf(all, stacks)
  }
}

/**
 * The reading that divides them most evenly; null: none leaves enough on both sides.
 * @param {readonly number[]} requests so far, at each reading
 */
function middleOf (requests) {
  const [first, last] = [requests[0], requests[requests.length - 1]]
  const least = requests.map(count => Math.min(count - first, last - count))
  const at = least.indexOf(Math.max(...least))
  return least[at] >= LEAST_IN_HALF ? at : null
}

/** @param {number} node @param {Stacks} stacks @param {boolean} isWhole */
function foldNode (node, stacks, isWhole) {
  const path = stacks.pathOf(node).map(at => stacks.frameOf(at))
  const found = fold(path, isWhole)
  if (found === null) return null
  const at = path[found.at]
  return {
    key: `${at.file}:${at.line}:${at.column}:${at.name}`, at, callers: found.callers.map(i => path[i]),
    by: found.by === null ? null : path[found.by]
  }
}

/**
 * As Map.groupBy(), which Node.js 20 lacks.
 * @template K, V @param {Map<K, V>} map @param {(entry: [K, V]) => string} keyOf @returns {Map<string, [K, V][]>}
 */
function groupBy (map, keyOf) {
  /** @type {Map<string, [K, V][]>} */
  const groups = new Map()
  for (const entry of map) {
    const group = groups.get(keyOf(entry))
    if (group) group.push(entry)
    else groups.set(keyOf(entry), [entry])
  }
  return groups
}

/** @param {Map<number, Change>} changes @param {Stacks} stacks @returns {Branch[]} */
function treeOf (changes, stacks) {
  const nets = [...changes].map(
    ([node, { came, gone }]) => ({ node, bytes: Math.max(0, Math.round(came.sum - gone.sum)) })
  )
  const least = nets.reduce((sum, { bytes }) => sum + bytes, 0) * LEAST_SHARE
  /** @type {Map<number, number>} */
  const sums = new Map()
  for (const { node, bytes } of nets) for (const at of stacks.pathOf(node)) sums.set(at, (sums.get(at) ?? 0) + bytes)
  /** @type {Map<number, Branch>} */
  const branches = new Map()
  /** @type {Branch[]} */
  const roots = []
  for (const { node, bytes } of nets) {
    let siblings = roots
    for (const at of stacks.pathOf(node)) {
      if (/** @type {number} */ (sums.get(at)) < least || sums.get(at) === 0) break
      const branch = branches.get(at) ?? { ...stacks.frameOf(at), bytes: 0, children: [] }
      if (!branches.has(at)) siblings.push(branch)
      branches.set(at, branch)
      if (at === node) branch.bytes += bytes
      siblings = branch.children
    }
  }
  return roots
}

/**
 * How far an estimate by samples may be off. V8 samples an allocation of `size` bytes with the probability 1 − e^(−size
 * / interval), and a sample's weight is what it stands for: size / probability. Small objects are found by chance, and
 * their number has a Poisson distribution; one much larger than the interval is found for certain, so that its weight
 * is no guess.
 *
 * @typedef {{ bytes: number, low: number, high: number, samples: number }} Estimate `low` to `high`: the 95 % interval;
 *   `samples`: how many more there are
 * @typedef {{ sum: number, guessed: number, squares: number, count: number }} Weights of samples: the sum; what of it
 *   is by chance, its variance; their number
 */

const Z = 1.96
const NOT_SEEN = 3 // 95 %: so many samples are expected at the most, where none was seen
const STEPS = 6

/** @returns {Weights} */
const noWeights = () => ({ sum: 0, guessed: 0, squares: 0, count: 0 })

/** @param {Weights} weights @param {number} weight @param {number} intervalBytes between two samples, in the mean */
function addWeight (weights, weight, intervalBytes) {
  const missed = missedShare(weight / intervalBytes)
  weights.sum += weight
  weights.guessed += weight * missed
  weights.squares += weight * weight * missed
  weights.count++
}

/**
 * Of allocations whose samples have this weight, in intervals: x / (1 − e^(−x)) is the weight, e^(−x) the share, 0 to
 * 1.
 * @param {number} weight
 */
function missedShare (weight) {
  if (weight <= 1) return 1
  let x = weight
  for (let i = 0; i < STEPS; i++) x = weight * (1 - Math.exp(-x))
  return Math.exp(-x)
}

/**
 * Of samples with unequal weights: as if there were so many equal ones as have the same variance, by Byar's
 * approximation of the exact interval.
 * @param {Weights} weights @returns {{ low: number, high: number }}
 */
function intervalOf ({ sum, guessed, squares }) {
  const n = squares === 0 ? 0 : guessed * guessed / squares
  if (n < 1) return { low: sum - Z * Math.sqrt(squares), high: sum + Z * Math.sqrt(squares) } // all but certain
  const low = n * Math.max(0, 1 - 1 / (9 * n) - Z / (3 * Math.sqrt(n))) ** 3
  const high = (n + 1) * (1 - 1 / (9 * (n + 1)) + Z / (3 * Math.sqrt(n + 1))) ** 3
  const known = sum - guessed
  return { low: known + low / n * guessed, high: known + high / n * guessed }
}

/**
 * The difference of what has come and what has gone. The intervals of both make that of the difference (the MOVER
 * method of Zou and Donner).
 * @param {Weights} came @param {Weights} gone @param {number} intervalBytes between two samples, in the mean
 * @returns {Estimate}
 */
function difference (came, gone, intervalBytes) {
  const bytes = came.sum - gone.sum
  if (came.count + gone.count === 0) return { bytes: 0, low: 0, high: NOT_SEEN * intervalBytes, samples: 0 }
  const [of, off] = [intervalOf(came), intervalOf(gone)]
  return {
    bytes,
    low: bytes - Math.hypot(came.sum - of.low, off.high - gone.sum),
    high: bytes + Math.hypot(of.high - came.sum, gone.sum - off.low),
    samples: came.count - gone.count
  }
}

module.exports = { compare, growthOf, middleOf, addWeight, difference, intervalOf, noWeights }
