'use strict'

/**
 * How many workers there are to be, and what each may use, from what the container has. `--max-rss auto` divides the
 * memory so that the fleet stays within the limit while a worker is replaced:
 *
 *     (limit − primary − margin) ÷ (workers + what runs beside them)
 *
 * Beside them runs a replacement (`--max-surge`, or the standbys where they are more), and processes of features, of
 * which workers are copies. The margin is for what no worker's figure has: the kernel's socket buffers and page tables,
 * file pages in use, and what a worker takes above its budget until it has left.
 */

const { BOOTING } = require('./memory-room')
const { formatSize } = require('./units')
/** @import { Options } from '../tables/options' */

/**
 * @typedef {'machine' | 'cgroup v1' | 'cgroup v2'} Source of a limit
 *
 * @typedef {object} Container
 * @property {number} limitBytes the lowest limit that holds for this process
 * @property {Source} source
 * @property {number | null} quotaCpus null: no quota
 *
 * @typedef {object} Sizing how the number of workers and their budget came about; `null`: not known
 * @property {number} parallelism CPUs that this process may run on
 * @property {number | null} quotaCpus
 * @property {number} cpus that count
 * @property {number} desired 2×CPU+1
 * @property {number | null} limitBytes @property {Source | null} source @property {number} primaryBytes
 * @property {number} marginBytes
 * @property {number} beside processes beside the workers
 * @property {number | null} fitting how many workers the memory is enough for; null: not known
 * @property {boolean} isAutoWorkers the number of workers came from these figures
 * @property {boolean} isAutoBudget the budget did
 *
 * @typedef {object} Bounds of the number of workers
 * @property {number} min @property {number} max
 * @property {number} asked the max that the option names
 */

const MIB = 1024 ** 2
const PRIMARY_BYTES = 80 * MIB // it takes 55 to 65 MiB
const MARGIN = 0.1
/** A worker that has loaded nothing takes about 50 MiB. */
const LEAST_BYTES = 64 * MIB
/** More than most apps take: as many as fit boot at once, before it is known what one takes. */
const UNKNOWN_BYTES = 512 * MIB

/**
 * @param {{ parallelism: number, container?: Container | null }} machine
 * @param {{ workers: number | 'auto' | { min: number, max: number | 'auto' }, maxRssBytes: number | 'auto' | null,
 *   maxSurge: number, standby: number } & Record<string, unknown>} options
 * @param {number} processes that there are beside primary and workers @returns {Readonly<Sizing>}
 */
function size ({ parallelism, container = null }, options, processes) {
  const { workers, maxRssBytes, maxSurge, standby } = options
  // A part of a CPU does not count, as in libuv; the kernel lets a process run on one at least.
  const cpus = Math.max(1, Math.min(parallelism, Math.floor(container?.quotaCpus ?? Infinity)))
  const sizing = {
    parallelism,
    quotaCpus: container?.quotaCpus ?? null,
    cpus,
    desired: 2 * cpus + 1,
    limitBytes: container?.limitBytes ?? null,
    source: container?.source ?? null,
    primaryBytes: PRIMARY_BYTES,
    marginBytes: container ? Math.round(MARGIN * container.limitBytes) : 0,
    beside: Math.max(maxSurge, standby) + processes
  }
  const each = typeof maxRssBytes === 'number' ? maxRssBytes : LEAST_BYTES
  const fitting = container && Math.max(0, Math.floor(forWorkers(sizing) / each) - sizing.beside)
  return Object.freeze({ ...sizing, fitting, isAutoWorkers: workers === 'auto', isAutoBudget: maxRssBytes === 'auto' })
}

/**
 * For all but the primary; below 0: there is less.
 * @param {Pick<Sizing, 'limitBytes' | 'primaryBytes' | 'marginBytes'>} sizing @returns {number} bytes
 */
const forWorkers = ({ limitBytes, primaryBytes, marginBytes }) => Number(limitBytes) - primaryBytes - marginBytes

/**
 * `--workers auto`: 2×CPU+1, or fewer where the memory is not enough for so many of the least size. A budget that was
 * given is an upper bound that a worker may never come near, so it takes none away.
 * @param {Sizing} sizing @param {number | 'auto' | null} maxRssBytes
 */
function autoWorkers ({ desired, fitting }, maxRssBytes) {
  return typeof maxRssBytes === 'number' || fitting === null ? desired : Math.max(1, Math.min(desired, fitting))
}

/** How many workers may boot before one has shown what it takes. @param {Sizing} sizing */
const workersAtFirst = sizing => workersOf(sizing, UNKNOWN_BYTES)

/**
 * How many get a budget that leaves a fresh worker room to grow; one at least.
 * @param {Sizing} sizing @param {number} freshBytes by the budget's metric
 */
const workersThatFit = (sizing, freshBytes) => workersOf(sizing, BOOTING * freshBytes)

/** @param {Sizing} sizing @param {number} eachBytes */
const workersOf = (sizing, eachBytes) => Math.max(1, Math.floor(forWorkers(sizing) / eachBytes) - sizing.beside)

/**
 * `--max-rss auto`.
 * @param {Sizing} sizing @param {number} workers
 * @returns {number} bytes, a whole number of MiB; 0: there is no memory for them
 */
function autoBudget (sizing, workers) {
  return MIB * Math.max(0, Math.floor(forWorkers(sizing) / (workers + sizing.beside) / MIB))
}

/**
 * The budget of a worker in a fleet of this size; within the bounds of one that sizes itself, it is that of the
 * largest.
 * @param {Pick<Options, 'maxRssBytes' | 'hardRssBytes' | 'sizing'>} options @param {number} workers
 * @returns {{ maxRssBytes: number | null, hardRssBytes: number | null }}
 */
function budgetFor (options, workers) {
  const { maxRssBytes, hardRssBytes, sizing } = options
  if (!sizing.isAutoBudget) return { maxRssBytes, hardRssBytes }
  const soft = autoBudget(sizing, Math.max(workers, boundsOf(options)?.max ?? workers))
  return { maxRssBytes: soft, hardRssBytes: Math.round(soft * Number(hardRssBytes) / Number(maxRssBytes)) }
}

/**
 * Why `--max-rss auto` cannot be had.
 * @param {Sizing} sizing @param {number} workers
 * @param {number | null} [freshBytes] what a worker takes when it is new; null: not known
 * @returns {string | null} completes "it takes …"; null: it can
 */
function whyNoAutoBudget (sizing, workers, freshBytes = null) {
  if (sizing.limitBytes === null) return 'a size, where the limit of memory is not known'
  const bytes = autoBudget(sizing, workers)
  const least = Math.max(LEAST_BYTES, Math.round(BOOTING * Number(freshBytes)))
  if (bytes >= least) return null
  return `auto only where each worker gets at least ${formatSize(least)}; here it is ${formatSize(bytes)}: ` +
    `${budgetArithmetic(sizing, workers)}`
}

/** @param {Sizing} sizing @param {number} workers @returns {string} */
function budgetArithmetic (sizing, workers) {
  const { limitBytes, source, primaryBytes, marginBytes, beside } = sizing
  return `(${formatSize(Number(limitBytes))} of the ${source} − ${formatSize(primaryBytes)} for the primary − ` +
    `${formatSize(marginBytes)} margin) ÷ (${workers} workers + ${beside} beside them) ` +
    `= ${formatSize(autoBudget(sizing, workers))}`
}

/** @param {Sizing} sizing @returns {string} */
function workersArithmetic ({ parallelism, quotaCpus, cpus, desired, fitting }) {
  const quota = quotaCpus === null
    ? ''
    : ` (it may run on ${parallelism}, with a quota of ${Number(quotaCpus.toFixed(2))})`
  const few = fitting !== null && fitting < desired ? `; the memory is enough for ${fitting}` : ''
  return `2 × ${cpus} CPU${cpus === 1 ? '' : 's'}${quota} + 1 = ${desired}${few}`
}

/**
 * @param {Sizing} sizing @param {Pick<Options, 'workers' | 'maxRssBytes'>} options
 * @returns {(Pick<Sizing, 'limitBytes' | 'source'> & { warning: string, workers: number, desired?: number, beside?:
 *   number, softBytes?: number, fitting?: number })[]} what is to be said at the start
 */
function sizingWarnings ({ limitBytes, source, fitting, desired, beside, isAutoWorkers }, options) {
  const { workers, maxRssBytes } = options
  const bounds = boundsOf(options)
  if (fitting === null || (bounds && bounds.max < bounds.asked)) return [] // that is said by itself
  if (isAutoWorkers && workers < desired) return [{ warning: 'few-workers', workers, desired, limitBytes, source }]
  if (maxRssBytes === null || workers <= fitting) return []
  return [{ warning: 'over-committed', workers, beside, softBytes: maxRssBytes, limitBytes, source, fitting }]
}

/**
 * The bounds within which the fleet sizes itself; null: there are as many workers as the options, or a command, say.
 * @param {Record<string, any>} options @returns {Readonly<Bounds> | null}
 */
const boundsOf = ({ autoscale = null }) => autoscale

/**
 * Never more than 2×CPU+1, as more event loops than that are of no use to the CPUs, nor more than the memory is enough
 * for, unless `min` asks for them.
 * @param {{ min: number, max: number | 'auto' }} range @param {Sizing} sizing @returns {Readonly<Bounds>}
 */
function boundsWithin ({ min, max }, { desired, fitting }) {
  const asked = max === 'auto' ? Math.max(min, desired) : max
  return Object.freeze({ min, max: Math.max(min, Math.min(asked, desired, fitting ?? Infinity)), asked })
}

module.exports = {
  LEAST_BYTES, boundsOf, boundsWithin, size, autoWorkers, workersAtFirst, workersThatFit, autoBudget, budgetFor,
  whyNoAutoBudget, budgetArithmetic, workersArithmetic, sizingWarnings
}
