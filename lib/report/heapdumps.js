'use strict'

/** Heap snapshots that were written, by hand or by `--on-condemn`. */

const { BoundedList } = require('./bounded-list')
const { asNumber, asText } = require('./journal-field')

const MOST = 1000

class Heapdumps {
  /** @type {BoundedList<{ t: number, slot: number | null, pid: number | null, reason: string | null, file: string, bytes: number | null, pauseMs: number | null }>} */
  #list = new BoundedList(MOST)

  /** @type {Readonly<Record<string, (line: Record<string, any>) => void>>} */
  handlers = Object.freeze({
    heapdump: line => {
      const [t, file] = [asNumber(line.t), asText(line.file)]
      if (t === null || file === null) return
      this.#list.push({ t, slot: asNumber(line.slot), pid: asNumber(line.pid), reason: asText(line.reason), file, bytes: asNumber(line.bytes), pauseMs: asNumber(line.pauseMs) })
    }
  })

  summary () {
    this.#list.thin()
    return { heapdumps: [...this.#list.items], heapdumpsOmitted: this.#list.omitted }
  }
}

module.exports = { Heapdumps }
