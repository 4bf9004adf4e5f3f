'use strict'

/**
 * The process of which workers are copies (`--fork mold`): it loads the app up to its first `listen()`, warms it up,
 * and stands still. What follows the fork, in each copy, is what a spawned worker does before it loads the app: see
 * enter.js.
 */

const { setImmediate, setTimeout } = require('node:timers')
const { loadAddon } = require('../../native/addon')
const { flushCompileCache } = require('../../worker/boot/compile-cache')
const { Channel } = require('../../worker/channel')
const { prepare } = require('../../worker/prepare')
const { ownSettings } = require('../../worker/settings')
const { exposeGc } = require('../../worker/vitals/memory')
const { warmUpApp } = require('./app-warmup')
const { openDescriptors, openedSince } = require('./descriptors')
const { Mold } = require('./mold')
const { onFork } = require('./on-fork')
const { LiveThreads } = require('./threads')

const CONTROL = 4 // its descriptor here: behind stdin, stdout, stderr and the channel
const POLL_MS = 5
const MOST_NAMED = 5
const SURVIVALS = 2 // of young objects, until they are old: a copy's first collections do not touch them

/**
 * Before the copies are made it does what a worker does before it loads the app; the rest follows in each copy.
 * @param {{ worker: import('../../worker/prepare').Settings, settings: Record<string, any> }} how `warm`: requests;
 *   `isUnsafe`: whatever the app has opened
 */
function becomeMold ({ worker, settings: { warm, isUnsafe } }) {
  const addon = /** @type {import('../../native/addon').Addon} */ (loadAddon().addon)
  const mold = new Mold(addon, CONTROL)
  const refuse = (/** @type {string} */ refused) => mold.tell({ refused })
  const lacking = mold.prepare()
  if (lacking !== null) {
    return refuse(`Node.js ${process.version} lacks ${lacking}, without which a forked worker cannot end`)
  }
  const { listenHook, api, enter } = prepare(worker)
  /** @type {(() => unknown)[]} */
  const warmers = []
  api.extend({ onFork, warm: fn => { warmers.push(fn) } })
  const threads = new LiveThreads().watch()
  const before = openDescriptors()
  const collect = exposeGc()

  listenHook.onHeld = () => {
    listenHook.onHeld = () => {}
    mold.tell({ held: true })
    setImmediate(freeze) // the rest of the module runs first
  }

  async function freeze () {
    try {
      for (const fn of warmers) await fn()
      collect() // before the requests: it would drop compiled code, with the shapes of objects that are no more
      await warmUpApp(listenHook.held, warm)
    } catch (error) {
      return refuse(`the app cannot be warmed up: ${String(error instanceof Error ? error.message : error)}`)
    }
    flushCompileCache()
    // Threads of the pool are at work
    while (addon.activeRequests() > 0) await new Promise(resolve => setTimeout(resolve, POLL_MS))
    const shared = new Set(openedSince(before).map(({ what }) => what))
    if (threads.count > 0) shared.add('a thread (worker_threads or module hooks)')
    else for (const name of await threads.native()) shared.add(`a thread of native code ("${name}")`)
    if (shared.size > 0 && !isUnsafe) return refuse(unsafe([...shared]))
    threads.unwatch()
    for (let i = 0; i < SURVIVALS; i++) collect({ type: 'minor' })
    await mold.freeze()
    enter(new Channel(), ownSettings('RECYCLE_WORKER'))
  }
}

/** @param {string[]} shared */
function unsafe (shared) {
  const named = shared.slice(0, MOST_NAMED).join(', ') +
    (shared.length > MOST_NAMED ? ` and ${shared.length - MOST_NAMED} more` : '')
  return `before it listened the app opened ${named}, which forked workers cannot share; ` +
    "open it in listen's callback or in onFork(), or give --fork-unsafe"
}

module.exports = { becomeMold }
