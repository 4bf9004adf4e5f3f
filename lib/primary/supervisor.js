'use strict'

/**
 * The supervisor puts the rooms of the primary together:
 *
 *     every interval   sampler.look() ─▶ condemned ─┐
 *     commands         desired ─────────────────────┼─▶ reconciler: plan() ─▶ steps: boot, recycle, collect, retire, account
 *     workers          ready, gone, requests ───────┘
 *
 * What happens goes through announce(), and from there to the journal, the log and the listeners for `event`.
 */

const { EventEmitter } = require('node:events')
const { RecycleError } = require('../core/errors')
const { Autoscaler } = require('./autoscaler')
const { Balancer } = require('./handoff/balancer')
const { GarbageCollection } = require('./recycling/garbage-collection')
const { CondemnedHeapdumps } = require('./recycling/condemned-heapdumps')
const { Lifecycle } = require('./workers/lifecycle')
const { Fleet } = require('./workers/fleet')
const { Diagnostics } = require('./recycling/diagnostics')
const { OutOfRotation } = require('./recycling/out-of-rotation')
const { ListeningSockets } = require('./sockets/listening-sockets')
const { nameOfApp } = require('./fleet-name')
const { Commands } = require('./commands')
const { Departure } = require('./recycling/departure')
const { Reconciler } = require('./reconciler')
const { Shutdown } = require('./recycling/shutdown')
const { HandoffLedger } = require('./handoff/ledger')
const { Container } = require('./measuring/container')
const { MemoryWatch } = require('./measuring/memory-watch')
const { SessionOwners } = require('./handoff/session-owners')
const { LeakingRoutes } = require('./measuring/leaking-routes')
const { Sampler } = require('./measuring/sampler')
const { Recycler } = require('./recycling/recycler')
const { describeFleet } = require('./status')
const { Tasks } = require('./tasks')
const { Tenure } = require('./tenure')
const { Handover } = require('./upgrade/handover')
const { Succession } = require('./upgrade/succession')

/** @typedef {import('./workers/worker-handle').WorkerHandle} WorkerHandle */

const VERSION = 1

/**
 * A running fleet. Emits `event` with every journal line, `message` ({ slot, pid, message }) with what the app sends by
 * `process.send`, and `stopped` at the end, with the error that ended it or null.
 */
class Supervisor extends EventEmitter {
  #fleet = new Fleet()
  /** @type {ListeningSockets} */
  #listeningSockets
  #tasks = new Tasks()
  #tenure = new Tenure()
  /** @type {Promise<void> | null} */
  #stopped = null
  /** @type {RecycleError | null} */
  #failure = null
  /** @type {Reconciler} */
  #reconciler
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {import('../core/options').Options} options
   * @param {object} deps
   * @param {import('./workers/spawner').Spawner} deps.spawner
   * @param {ReturnType<typeof import('./measuring/meter').pickMeter>} deps.meter
   * @param {import('./recycling/heapdump-folder').HeapdumpFolder | null} deps.heapdumpFolder of --on-condemn
   * @param {(line: Record<string, any>) => void} deps.write takes every journal line
   * @param {() => Promise<void>} deps.flush
   * @param {import('./sockets/inherited-sockets').InheritedSockets} [deps.inherited]
   * @param {import('./orphans').Orphans | null} [deps.orphans] null: this process has children that are not the fleet's
   * @param {import('./upgrade/takeover').Takeover | null} [deps.takeover] of a running fleet
   */
  constructor (options, { spawner, meter, heapdumpFolder, write, flush, inherited, orphans = null, takeover = null }) {
    super()
    this.setMaxListeners(0)
    this.options = options
    this.spawner = spawner
    this.name = options.name ?? nameOfApp(spawner.app)
    this.write = write
    this.flush = flush
    this.orphans = orphans
    this.takeover = takeover
    this.#listeningSockets = new ListeningSockets({ inherited, record: this.announce.bind(this) })
    const fleet = this.#fleet
    const tasks = this.#tasks
    const stopping = this.#tenure
    /** @type {Reconciler} */
    const reconciler = this.#reconciler = new Reconciler({
      options,
      fleet,
      tasks,
      stopping,
      steps: {
        boot: ({ slot }) => recycler.boot(slot),
        recycle: ({ slot, how, hasNoRoom }) => recycler.recycle(slot, how, hasNoRoom),
        condemn: async ({ slot }) => {
          this.sampler.condemnAhead(/** @type {WorkerHandle} */ (fleet.slots.get(slot)?.incumbent))
          changed()
        },
        collect: ({ slot }) => garbageCollection.relieve(slot),
        heapdump: ({ slot }) => condemnedHeapdumps.dump(slot),
        rejoin: () => outOfRotation.rejoin(),
        'scale-away': ({ slot }) => recycler.scaleAway(slot),
        close: async ({ slot }) => fleet.close(slot),
        'boot-standby': () => recycler.bootStandby(),
        'retire-standby': ({ handle, reason }) => recycler.retireStandby(handle, reason)
      },
      figuresOf: handle => this.sampler.figuresOf(handle),
      taskOf: handle => garbageCollection.taskOf(handle) ?? condemnedHeapdumps.taskOf(handle),
      memory: () => this.memoryWatch.latest
    })
    const changed = () => reconciler.changed()
    const until = (/** @type {() => boolean} */ isSo) => reconciler.until(isSo)
    const figuresOf = (/** @type {WorkerHandle} */ handle) => this.sampler.figuresOf(handle)
    const wasOomKilled = (/** @type {WorkerHandle} */ handle) => this.memoryWatch.wasOomKilled(handle)
    const deps = { options, fleet, spawner, meter, heapdumpFolder, tasks, stopping, changed, until, figuresOf, wasOomKilled, record: this.announce.bind(this) }
    this.sampler = new Sampler(deps)
    this.memoryWatch = new MemoryWatch({ ...deps, container: new Container() })
    const collect = (/** @type {number} */ slot) => tasks.run('collect', () => garbageCollection.request(slot).catch(() => {})) // refused: `worker.in-rotation` has it
    this.healthChecks = options.health === null ? null : new (require('./health/health-checks').HealthChecks)(deps)
    this.leakingRoutes = new LeakingRoutes({ ...deps, collect })
    this.sessionOwners = new SessionOwners(fleet)
    this.ledger = new HandoffLedger(() => [...fleet.serving(), ...(this.handover.receivers)], sender => fleet.successorOf(sender), this.sessionOwners)
    this.balancer = new Balancer({ ...deps, ledger: this.ledger })
    const isHeld = () => takeover !== null && !takeover.isLeading
    this.autoscaler = new Autoscaler({ ...deps, isHeld, memory: () => this.memoryWatch.latest })
    const lifecycle = new Lifecycle({ ...deps, isHeld })
      .on('spawned', handle => this.#connect(handle))
      .on('hopeless', details => this.abandon(new RecycleError('RECYCLE_APP_DIES', details)))
    const outOfRotation = new OutOfRotation(deps)
    const garbageCollection = new GarbageCollection({ ...deps, sampler: this.sampler, outOfRotation })
    const diagnostics = new Diagnostics({ ...deps, outOfRotation })
    const condemnedHeapdumps = this.condemnedHeapdumps = new CondemnedHeapdumps({ ...deps, sampler: this.sampler, diagnostics })
    const recycler = this.recycler = new Recycler({ ...deps, lifecycle, sampler: this.sampler })
    spawner.molds?.on('event', (event, fields) => this.announce(event, fields))
    spawner.molds?.on('refused', why => { if (fleet.serving().length === 0) this.abandon(new RecycleError('RECYCLE_FORK_REFUSED', { why })) })
    const listeningSockets = this.#listeningSockets
    this.shutdown = new Shutdown({ ...deps, listeningSockets })
    this.departure = new Departure({ ...deps, sampler: this.sampler })
    this.handover = new Handover({ ...deps, listeningSockets, ledger: this.ledger, departure: this.departure, tenure: this.#tenure })
      .on('handed-over', () => {
        this.sessionOwners.isOver = true
        this.emit('handed-over')
      })
      .on('resumed', () => {
        this.sessionOwners.isOver = false
        changed()
        this.emit('resumed')
      })
    this.succession = takeover && new Succession({ ...deps, takeover, lifecycle, listeningSockets, abandon: error => this.abandon(error) })
    if (takeover) {
      this.ledger.connectLender(takeover.sender)
      takeover.greet(listeningSockets, options)
    }
    this.commands = new Commands({
      ...deps, recycler, garbageCollection, diagnostics, look: at => this.#look(at)
    })
  }

  /** Begins; a second call changes nothing. */
  start () {
    if (this.#timer || this.isStopping) return this
    const { spawner: { app, args, execArgv, compileCache }, options } = this
    this.announce('fleet.start', { pid: process.pid, predecessor: this.takeover?.pid ?? null, app, args, execArgv, meter: this.sampler.meter.name, node: process.version, compileCache, options })
    this.#watchOrphans()
    this.memoryWatch.start()
    if (this.succession) {
      const { succession } = this
      this.#tasks.run('prepare', () => succession.prepare())
    } else {
      this.#fleet.resize(options.workers)
      this.#reconciler.changed()
    }
    this.#lookLater()
    this.autoscaler.start()
    this.ready().then(() => this.#listeningSockets.warnOfUnused(), () => {}) // it stops before it is ready
    return this
  }

  /** @see Commands.ready */
  async ready () {
    return this.commands.ready()
  }

  /** @see Commands.recycle @param {number} slot */
  async recycle (slot) {
    return this.commands.recycle(slot)
  }

  /** @see Commands.reload */
  async reload () {
    return this.commands.reload()
  }

  /**
   * Has another primary, of the code and the Node.js that are on disk now, take the fleet over; this one ends with `stopped`.
   *
   * @param {{ node?: string }} [how] `node`: the file of another Node.js
   * @returns {Promise<Record<string, any>>} the journal's `fleet.left`, when the new primary runs the fleet and the old workers are gone
   * @throws {RecycleError} RECYCLE_NOT_UPGRADED, RECYCLE_UPGRADED, RECYCLE_STOPPED
   */
  async upgrade (how = {}) {
    if (!this.handover.isLeaving) this.#tenure.throwIfAborted()
    if (this.takeover && !this.takeover.isSole) throw new RecycleError('RECYCLE_NOT_UPGRADED', { why: 'the upgrade before has not ended yet' })
    const line = await this.handover.begin(how)
    this.#stopped ??= this.#end()
    return line
  }

  /** @see Commands.scale @param {number | 'auto'} workers 1 to 1024, or auto */
  async scale (workers) {
    return this.commands.scale(workers)
  }

  /** @see Commands.gc @param {number} slot */
  async gc (slot) {
    return this.commands.gc(slot)
  }

  /** @see Commands.heapdump @param {number} slot @param {{ file?: string, then?: 'recycle' }} [how] */
  async heapdump (slot, how) {
    return this.commands.heapdump(slot, how)
  }

  /** @see Commands.cpuprofile @param {number} slot @param {{ durationMs?: number, file?: string }} [how] */
  async cpuprofile (slot, how) {
    return this.commands.cpuprofile(slot, how)
  }

  /** A stop has begun. */
  get isStopping () {
    return this.#stopped !== null
  }

  /** How many workers there are to be. */
  get size () {
    return this.#fleet.desired
  }

  /** A snapshot of the fleet: plain data, sizes in bytes, times in milliseconds. */
  status () {
    const { workers, ready } = describeFleet(this.#fleet, handle => this.sampler.figuresOf(handle))
    const totals = { workers: this.size, ready, recycles: this.recycler.count, ...this.ledger.totals }
    const about = { autoscale: this.autoscaler.describe(), memory: this.memoryWatch.latest, heapdumps: this.condemnedHeapdumps.describe(), memoryByRoute: this.leakingRoutes.describe() }
    return { v: VERSION, name: this.name, pid: process.pid, app: this.spawner.app, workers, totals, ...about }
  }

  /**
   * Stops the fleet: no more connections, what is in flight finishes. Called again, or with `now`, it hurries: what is
   * in flight is cut.
   *
   * @param {{ now?: boolean }} [how]
   * @returns {Promise<void>} resolves when every worker is gone
   */
  stop ({ now = false } = {}) {
    const isSecond = this.#stopped !== null
    this.#stopped ??= this.#stop()
    if (isSecond || now) (this.handover.isLeaving ? this.departure : this.shutdown).hurry()
    return this.#stopped
  }

  /** @param {{ requestedAlone?: boolean }} [at] */
  #look (at) {
    this.#tasks.run('look', async () => {
      if (this.#tenure.aborted) return
      await this.sampler.look(at)
      if (at?.requestedAlone !== true && !this.#tenure.aborted) this.memoryWatch.look()
      this.#reconciler.changed()
    })
  }

  /** The interval is from the beginning of one look to that of the next, however long a look takes. */
  #lookLater () {
    this.#timer = setTimeout(() => {
      this.#lookLater()
      this.#look()
    }, this.memoryWatch.nextLookMs)
  }

  /** Orphans come to PID 1, and to no other process as a rule. */
  #watchOrphans () {
    if (process.pid !== 1) return
    const why = this.orphans ? this.orphans.watch() : 'recycle is used as a library'
    if (why !== null) this.announce('fleet.warning', { warning: 'pid-1', why })
  }

  async #stop () {
    this.#tenure.end(this.#failure ?? new RecycleError('RECYCLE_STOPPED'))
    this.announce('fleet.stopping', {})
    await this.handover.cancel('the fleet is stopping')
    if (this.handover.hasLeft) return this.#end()
    await this.#leaveTakeover()
    this.#endSupport()
    await this.shutdown.run()
    await this.#tasks.settled()
    this.announce('fleet.stop', { recycles: this.recycler.count, failure: this.#failure?.code ?? null })
    await this.#end()
  }

  /** While the predecessor runs: where this primary has not led, or has failed, the sockets are the other one's. */
  async #leaveTakeover () {
    if (!this.takeover || this.takeover.isSole) return
    if (this.takeover.isLeading && !this.#failure) return this.takeover.stopping()
    this.#listeningSockets.letGo()
    this.emit('handed-over')
    await this.takeover.fail(this.#failure?.message ?? 'it has been told to stop')
  }

  #endSupport () {
    clearTimeout(this.#timer)
    this.balancer.stop()
    this.autoscaler.stop()
    this.healthChecks?.close()
    this.spawner.molds?.close()
  }

  async #end () {
    this.#endSupport()
    await this.#tasks.settled()
    this.ledger.close()
    this.orphans?.close()
    await this.flush()
    queueMicrotask(() => this.emit('stopped', this.#failure))
  }

  /** @param {WorkerHandle} handle */
  #connect (handle) {
    this.#listeningSockets.connect(handle)
    this.sessionOwners.connect(handle)
    this.ledger.connect(handle)
    this.balancer.connect(handle)
    this.memoryWatch.connect(handle)
    this.leakingRoutes.connect(handle)
    this.healthChecks?.connect(handle)
    for (const event of ['standby', 'ready']) handle.on(event, () => this.sampler.attend(handle))
    if (this.options.sticky) {
      handle.on('listen', ({ query: { address, port }, data }) => { // https servers alone have any
        if (data !== undefined) this.abandon(new RecycleError('RECYCLE_STICKY_TLS', { address: port > 0 ? `port ${port}` : address }))
      })
    }
    handle.on('missing', ({ key, missing }) => this.announce('fleet.warning', { warning: 'no-handoff', key, missing }))
    handle.on('requested', ({ reason }) => {
      this.announce('worker.request', { slot: handle.slot, pid: handle.pid, reason: reason ?? null })
      handle.requested ??= 'requested'
      this.#look({ requestedAlone: true })
    })
    handle.on('flaw', ({ type, flaw }) => {
      this.announce('worker.protocol-error', { slot: handle.slot, pid: handle.pid, type, flaw })
      this.#look({ requestedAlone: true })
    })
    handle.on('disconnect', () => this.#tasks.run('disconnect', async () => { // it has died, or the app has cut the channel
      if (await handle.afterDown()) return
      if (handle.isWatched || handle.state === 'out-of-rotation') handle.requested ??= 'requested'
    }))
    handle.on('message', message => this.emit('message', { slot: handle.slot, pid: handle.pid, message }))
  }

  /** Stops the fleet for an error: `ready()` and whatever else is waited for rejects with it. @param {RecycleError} error */
  abandon (error) {
    if (this.isStopping) return
    this.#failure = error
    this.announce('fleet.failed', { code: error.code, error: error.message })
    this.stop()
  }

  /**
   * Its line goes into the journal, the log and to the listeners for `event`. They run after the step that is under way: an error
   * of theirs is theirs alone.
   *
   * @param {string} event
   * @param {Record<string, any>} fields
   * @returns the line
   */
  announce (event, fields) {
    const t = Date.now() // eslint-disable-line no-restricted-properties -- a time of day, for people and other journals
    const line = { v: VERSION, t, event, ...fields }
    this.write(line)
    queueMicrotask(() => this.emit('event', line))
    return line
  }
}

module.exports = { Supervisor }
