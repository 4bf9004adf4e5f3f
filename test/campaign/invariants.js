'use strict'

/**
 * What must hold of a fleet whatever goes wrong, checked over its journal, the records of its clients, and the
 * processes that the kernel lists. It has its own reading of the journal, by docs/journal.md, and uses nothing of lib/.
 *
 * @typedef {import('./lives').Line} Line
 * @typedef {import('./lives').Life} Life
 *
 * @typedef {object} Request a request that a client has sent
 * @property {number} startedAt
 * @property {number} t when it was answered, or failed: ms since the epoch, as every time
 * @property {number} port the client's
 * @property {number | null} pid of the response; of one that failed: of the response before, on the same connection
 * @property {string | null} error null: it was answered as it should be
 *
 * @typedef {object} Fault
 * @property {string} kind
 * @property {number} from
 * @property {number} to when it was over
 * @property {number[]} pids the workers whose connections it may end; none: it may cost no client anything
 * @property {number[]} [ports] whose connections these had: the clients' ports, by the kernel
 * @property {boolean} [isFleet] it ends the primary: any connection may be closed
 *
 * @typedef {{ t: number, living: number[], zombies: number[] }} Processes the primary's children at a time
 * @typedef {{ rule: string, t: number, what: string }} Violation
 */

const { LEAVES, livesOf, readLines } = require('./lives')

const NOTICED_MS = 3000 // until a client has noticed the end of its worker, on a busy machine
const SLACK_MS = 100 // between two processes' looks at the same clock, and the same event
const REAPED_MS = 3000
const THINK_MS = 100 // of a client, between two requests
const ENDS = ['moved', 'closedByClient', 'closedAfterResponse', 'closedIdle', 'cut', 'unacked', 'unaccounted']
const DURATIONS = ['ageMs', 'silentMs', 'readyMs', 'drainMs', 'tookMs', 'outMs', 'emptyMs', 'pauseMs', 'loopLagMs']
const PRIMARY_FAILED = 'the primary failed at it' // an exception that a worker's message has caused
const RESETS = ['ECONNRESET', 'EPIPE', 'closed', 'ECONNREFUSED']

/**
 * @param {object} evidence
 * @param {string} evidence.journal of one fleet, from its start to its end
 * @param {Request[]} evidence.requests every one
 * @param {Fault[]} evidence.faults
 * @param {Processes[]} evidence.processes
 * @param {number[]} evidence.left processes of the fleet that are alive after its end
 * @returns {{ violations: Violation[], explained: Fault[] }} `explained`: of each request that a fault has ended, that
 *   fault
 */
function check ({ journal, requests, faults, processes, left }) {
  const { lines, torn } = readLines(journal)
  /** @type {Violation[]} */
  const violations = []
  const found = (/** @type {string} */ rule, /** @type {number} */ t, /** @type {string} */ what) =>
    violations.push({ rule, t, what })
  const killed = faults.find(({ isFleet }) => isFleet)
  if (torn > (killed ? 1 : 0)) found('journal', 0, `${torn} lines are not of a journal`)
  const lives = livesOf(lines, found)
  checkNumbers(lines, found)
  checkDurations(lines, found)
  checkAccounts(lines, lives, faults, found, killed !== undefined)
  checkProcesses(processes, lines, lives, found)
  for (const pid of left) found('process', lines.at(-1)?.t ?? 0, `process ${pid} is alive after the end of the fleet`)
  for (const { t, pid, event, flaw } of lines) if (event === 'worker.protocol-error' && flaw.startsWith(PRIMARY_FAILED)) found('exception', t, `${pid}: ${flaw}`)
  for (const { t, event, warning, what, why } of lines) if (event === 'fleet.warning' && warning === 'primary-failed') found('exception', t, `${what}: ${why}`)
  const explained = checkRequests(requests, lines, lives, faults, found)
  return { violations, explained }
}

/**
 * Never fewer that serve than promised, never more than the surge.
 *
 * @param {Line[]} lines @param {(rule: string, t: number, what: string) => void} found
 */
function checkNumbers (lines, found) {
  /** @type {any} */
  let options = null
  let desired = 0
  let most = 0 // while a scale is under way, the workers that are scaled away count too
  /**
   * Of each slot: its workers that serve, those that start, those that leave, and why it is empty.
   *
   * @type {Map<number, { ready: Set<number>, wasReady: boolean, isFault: boolean }>}
   */
  const slots = new Map()
  /** @type {Map<number, { slot: number | null, leaves: boolean }>} */
  const living = new Map()
  /** Of each slot, workers that are scaled away and have not been forked yet. @type {Map<number, number>} */
  const unforked = new Map()
  let outOfRotation = 0
  const slotOf = (/** @type {number} */ slot) => {
    const known = slots.get(slot) ?? { ready: new Set(), wasReady: false, isFault: false }
    slots.set(slot, known)
    return known
  }
  for (const line of lines) {
    const { event, slot, pid, t } = line
    if (event === 'fleet.start') {
      options ??= line.options
      desired = most = line.options.workers
    }
    if (event === 'fleet.stopping' || event === 'fleet.upgrade') return // from here on other promises hold
    if (event === 'fleet.scale') {
      most = Math.max(most, desired, line.to)
      desired = line.to
      // A worker that is leaving already counts for its slot no more, and if the slot comes back, it is a new one.
      for (const worker of living.values()) worker.leaves ||= worker.slot !== null && worker.slot >= desired
      for (const number of [...slots.keys()]) if (number >= desired) slots.delete(number)
    }
    if (event === 'worker.spawn' && pid !== null) {
      const leaves = (unforked.get(slot) ?? 0) > 0
      if (leaves) unforked.set(slot, Number(unforked.get(slot)) - 1)
      living.set(pid, { slot, leaves })
    }
    if (event === 'worker.drain' && pid === null && line.reason === 'scale') unforked.set(slot, 1 + (unforked.get(slot) ?? 0))
    if (event === 'worker.ready') {
      const here = slotOf(slot)
      here.ready.add(pid)
      here.wasReady = true
      here.isFault = false
      Object.assign(living.get(pid) ?? {}, { slot })
    }
    if (event === 'worker.drain' && slot !== null) {
      const here = slotOf(slot)
      here.ready.delete(pid)
      if (line.reason === 'scale') slots.delete(slot)
      if (line.reason === 'scale') Object.assign(living.get(pid) ?? {}, { leaves: true })
    }
    if (event === 'worker.out-of-rotation') outOfRotation++
    if (event === 'worker.in-rotation') outOfRotation = Math.max(0, outOfRotation - 1)
    if (LEAVES.includes(event)) {
      living.delete(pid)
      const here = slots.get(slot)
      if (here?.ready.delete(pid) || (event === 'worker.crash' && here && here.ready.size === 0)) here.isFault = true
    }
    if (living.size <= desired) most = desired
    if (options === null) continue
    const empty = [...slots].filter(([number, { ready, wasReady, isFault }]) =>
      number < desired && wasReady && !isFault && ready.size === 0)
    if (empty.length > options.maxUnavailable) found('ready', t, `slots ${empty.map(([number]) => number)} have no worker that serves, after ${event}; ${options.maxUnavailable} may be missing`)
    if (outOfRotation > 1) found('ready', t, `${outOfRotation} workers are out of rotation`)
    const scaledAway = [...living.values()].filter(({ leaves }) => leaves).length
    const surge = Math.max(options.maxSurge, options.standby)
    if (living.size - scaledAway > Math.max(desired, most) + surge) found('surge', t, `${living.size - scaledAway} workers run, after ${event}: ${desired} and a surge of ${surge} may`)
  }
}

/**
 * Nothing has taken less than no time, or longer than the fleet has lived: whatever the wall clock was set to.
 *
 * @param {Line[]} lines @param {(rule: string, t: number, what: string) => void} found
 */
function checkDurations (lines, found) {
  const lived = Number(lines.at(-1)?.t) - Number(lines[0]?.t) + SLACK_MS
  for (const line of lines) {
    for (const name of DURATIONS) {
      const took = line[name]
      if (typeof took === 'number' && (took < 0 || took > lived)) found('duration', line.t, `${name} of ${line.event} is ${took} ms, in a fleet that has lived for ${lived} ms`)
    }
  }
}

/**
 * Every connection ends in exactly one account, and a cut has its cause.
 *
 * @param {Line[]} lines @param {Map<number, Life>} lives @param {Fault[]} faults
 * @param {(rule: string, t: number, what: string) => void} found @param {boolean} isKilled
 */
function checkAccounts (lines, lives, faults, found, isKilled) {
  for (const line of lines.filter(({ event }) => ['recycled', 'scaled', 'stopped'].includes(event))) {
    const { t, oldPid, connections, cut, cuts, lost, unacked, unaccounted } = line
    const sum = ENDS.reduce((sum, end) => sum + line[end], 0)
    if (sum !== connections || ENDS.some(end => !Number.isSafeInteger(line[end]) || line[end] < 0)) found('account', t, `the ${connections} connections of ${oldPid} end in ${sum} ways`)
    const life = lives.get(oldPid)
    if (!life) found('account', t, `an account of ${oldPid}, which has not been spawned`)
    else if (++life.accounts > 1) found('account', t, `worker ${oldPid} has two accounts`)
    if (!lost && cuts.length < cut) found('cut', t, `${cut} connections of ${oldPid} were cut, and ${cuts.length} named`)
    const isExpected = faults.some(({ from, to, pids }) =>
      pids.includes(oldPid) && from <= t && to + NOTICED_MS >= (life?.drainAt ?? t))
    if ((cut || unacked || unaccounted || lost) && !isExpected) found('cut', t, `${oldPid}: ${JSON.stringify({ cut, unacked, unaccounted, lost })}, and no fault has hit it`)
  }
  if (isKilled || !lines.some(({ event }) => event === 'fleet.stop')) return
  for (const [pid, { drainAt, accounts, to, slot }] of lives) {
    if (drainAt !== Infinity && slot !== null && accounts === 0) found('account', to, `worker ${pid} of slot ${slot} has drained without an account`)
  }
}

/**
 * No process is unaccounted for, and no zombie stays.
 *
 * @param {Processes[]} processes @param {Line[]} lines @param {Map<number, Life>} lives
 * @param {(rule: string, t: number, what: string) => void} found
 */
function checkProcesses (processes, lines, lives, found) {
  const others = new Set(lines.filter(({ event }) => event === 'mold.spawn' || event === 'fleet.upgrade').map(({ pid }) => pid))
  /** @type {Map<number, number>} */
  const since = new Map()
  for (const { t, living, zombies } of processes) {
    const odd = [
      ...zombies.map(pid => ({ pid, is: 'a zombie' })),
      ...living.filter(pid => !others.has(pid) && !((lives.get(pid)?.from ?? Infinity) <= t && t <= (lives.get(pid)?.to ?? 0))).map(pid => ({ pid, is: 'not in the journal' }))
    ]
    for (const pid of since.keys()) if (!odd.some(other => other.pid === pid)) since.delete(pid)
    for (const { pid, is } of odd) {
      if (!since.has(pid)) since.set(pid, t)
      if (t - Number(since.get(pid)) <= REAPED_MS) continue
      found('process', t, `process ${pid} is ${is} for ${REAPED_MS} ms`)
      since.set(pid, Infinity)
    }
  }
}

/**
 * Every response is of a worker that lived then; every request that failed was ended by a fault that has hit its
 * worker, or by a cut that the journal has.
 *
 * @returns {Fault[]}
 * @param {Request[]} requests @param {Line[]} lines @param {Map<number, Life>} lives @param {Fault[]} faults
 * @param {(rule: string, t: number, what: string) => void} found
 */
function checkRequests (requests, lines, lives, faults, found) {
  /** @type {Map<number, number[]>} */
  const cutPorts = new Map()
  for (const { t, cuts } of lines) {
    for (const { remotePort } of cuts ?? []) {
      if (remotePort) {
        cutPorts.set(remotePort, [...cutPorts.get(remotePort) ?? [], t])
      }
    }
  }
  /** @type {Fault[]} */
  const explained = []
  for (const { startedAt, t, port, pid, error } of requests) {
    const life = pid === null ? null : lives.get(pid)
    if (error === null) {
      if (!life || life.from > t || life.to + SLACK_MS < startedAt) found('response', t, `a response of ${pid}, which did not live then`)
      continue
    }
    const isCut = cutPorts.get(port)?.some(at => at >= startedAt - SLACK_MS && at <= t + NOTICED_MS)
    // A connection may have moved since its last response: to any worker, if that of the response was leaving, or out
    // of rotation.
    const hasMoved = life?.aside.some(({ from, to }) => from <= t && to >= startedAt - THINK_MS)
    const isOf = (/** @type {Fault} */ { pids, ports, to }) =>
      pid === null || pids.includes(pid) || ports?.includes(port) || (life && life.drainAt <= to) || hasMoved
    const fault = faults.find(fault =>
      t >= fault.from - SLACK_MS && startedAt <= fault.to + NOTICED_MS && t <= fault.to + NOTICED_MS &&
      RESETS.includes(error) && (fault.isFleet || (fault.pids.length > 0 && isOf(fault))))
    const cause = fault ?? (isCut ? faults.find(({ from, to }) => from <= t && t <= to + NOTICED_MS) : undefined)
    if (cause) explained.push(cause)
    else found('drop', t, `${error} after ${t - startedAt} ms, on port ${port}, of ${pid ?? 'a new connection'}`)
  }
  return explained
}

module.exports = { check }
