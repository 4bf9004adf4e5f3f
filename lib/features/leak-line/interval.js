'use strict'

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

/** @param {Weights} to @param {Weights} from */
function joinWeights (to, from) {
  to.sum += from.sum
  to.guessed += from.guessed
  to.squares += from.squares
  to.count += from.count
}

/**
 * Of allocations whose samples have this weight, in intervals: x / (1 − e^(−x)) is the weight, e^(−x) the share, 0 to
 * 1.
 *
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
 *
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
 *
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

module.exports = { noWeights, addWeight, joinWeights, intervalOf, difference }
