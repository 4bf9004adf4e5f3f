'use strict'

const { countOfFirst } = require('./attribution')

const MOST = 20_000
const FIRST_GAP_MS = 250

/** A set of time spans; overlapping spans are joined. Above a limit, spans with the smallest gaps are joined too. */
class TimeSpans {
  /** Ascending and apart. @type {[from: number, to: number][]} */
  #spans = []
  #gapMs = 0

  /** @param {number} from ms since the epoch @param {number} to */
  add (from, to) {
    if (!(from <= to)) return
    let at = this.#after(from - this.#gapMs)
    let count = 0
    while (at + count < this.#spans.length && this.#spans[at + count][0] <= to + this.#gapMs) {
      const [otherFrom, otherTo] = this.#spans[at + count++]
      from = Math.min(from, otherFrom)
      to = Math.max(to, otherTo)
    }
    this.#spans.splice(at, count, [from, to])
    if (this.#spans.length <= MOST) return
    this.#gapMs = Math.max(FIRST_GAP_MS, 2 * this.#gapMs)
    const spans = this.#spans
    this.#spans = []
    for (at = 0; at < spans.length; at++) this.add(...spans[at])
  }

  /** @param {number} from @param {number} to exclusive */
  overlaps (from, to) {
    const span = this.#spans[this.#after(from)]
    return span !== undefined && span[0] < to
  }

  /** The first span that ends at `t` or later. @param {number} t */
  #after (t) {
    return countOfFirst(this.#spans, ([, to]) => to < t)
  }
}

module.exports = { TimeSpans }
