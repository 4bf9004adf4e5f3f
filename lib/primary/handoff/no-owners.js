'use strict'

/** @import { WorkerHandle } from '../workers/worker-handle' */

/**
 * The owners of sessions where no feature keeps the requests of one together: there are none, and any worker handles
 * them.
 *
 * @implements {Owners}
 *
 * @typedef {object} Owners which worker handles the requests of each session; emits `moved` when sessions that were
 *   nowhere have an owner
 * @property {(event: 'moved', listener: () => void) => unknown} on
 * @property {(handle: WorkerHandle) => void} connect called with each worker that is spawned, before what moves its
 *   connections
 * @property {(session: string) => WorkerHandle | null} find its owner; null: it has none that serves at the moment
 * @property {(session: string) => boolean} isAway its owner does not serve now, and will, or another will soon
 * @property {boolean} isOver what find() does not find has no owner here any more
 * @property {(successor: import('../succession/peer').Peer<any>) => void} lendTo this fleet's sessions are going to be
 *   another primary's
 * @property {() => void} handOver this fleet's workers have been told to leave
 * @property {() => void} resume that primary is gone
 * @property {(takeover: import('../succession/takeover').Takeover) => void} succeed this primary takes another one's
 *   fleet over
 */
class NoOwners {
  isOver = true

  on () {}

  connect () {}

  /** @returns {WorkerHandle | null} */
  find () {
    return null
  }

  isAway () {
    return false
  }

  lendTo () {}

  handOver () {}

  resume () {}

  succeed () {}
}

module.exports = { NoOwners }
