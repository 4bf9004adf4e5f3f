'use strict'

/**
 * The part of a worker that may run before a fork(2), in a process of which the workers are copies: modules, hooks and
 * captured globals. It starts no timer, observer or IPC listener, and knows neither slot nor primary; see enter.js for
 * the rest. In a worker that was spawned, both run at once.
 *
 * @typedef {object} Settings as the primary's spawner gives them
 * @property {string | null} compileCache a folder; null: none
 * @property {boolean} collectsFirst
 * @property {boolean} warmsUp its first clients come from another worker, and not as the fleet starts
 * @property {number | null} [waitsAt] the descriptor by which `orphan` comes once this worker is wanted: it was started
 *   before the fleet
 * @property {number} beatMs
 * @property {number} drainTimeoutMs
 * @property {number} stopLingerMs
 * @property {number} killTimeoutMs
 * @property {import('./orphan').Settings | null} orphan null: it leaves when its primary has died
 * @property {Record<string, Record<string, unknown>>} features those that are on, with their own settings
 * @property {string[]} api names of the functions that features have in it, also of those that are off
 *
 * @typedef {object} Prepared
 * @property {import('./connections/tracker').ConnectionTracker} tracker
 * @property {import('./accepting/listen-hook').ListenHook} listenHook
 * @property {ReturnType<import('./leaving/hold-signals').holdSignals>} signals
 * @property {ReturnType<import('./api').offerApi>} api
 * @property {ReturnType<import('./leaving/standard-streams').watchStandardStreams>} streams
 */

const { enableCompileCache } = require('./boot/compile-cache')
const { keepTickObject } = require('./boot/tick-object')

/**
 * @param {Pick<Settings, 'compileCache' | 'collectsFirst' | 'warmsUp' | 'features' | 'api'>} settings
 * @returns {Omit<Prepared, 'signals' | 'streams'> & { enter: (channel: import('./channel').Channel,
 *   settings: Settings) => void }} `enter`: see enter.js
 */
function prepare ({ compileCache, collectsFirst, warmsUp, features, api }) {
  enableCompileCache(compileCache) // also for the modules below
  keepTickObject()
  if (warmsUp) require('./boot/http-warmup').warmUpHttp() // before the tracker subscribes to http
  if (collectsFirst) require('./vitals/memory').exposeGc()() // for the limits that V8 keeps after it
  const { enter } = require('./enter')
  const { workerPartOf } = require('../features/by-name')
  Object.keys(features).forEach(workerPartOf) // once for all copies, and while the files are of this version
  const { ListenHook } = require('./accepting/listen-hook')
  const { ConnectionTracker } = require('./connections/tracker')
  const { holdSignals } = require('./leaving/hold-signals')
  const { watchStandardStreams } = require('./leaving/standard-streams')
  const { offerApi } = require('./api')
  const tracker = new ConnectionTracker()
  const prepared = {
    tracker,
    signals: holdSignals(),
    listenHook: new ListenHook(),
    api: offerApi(tracker, api),
    streams: watchStandardStreams()
  }
  return { ...prepared, enter: (channel, settings) => enter(prepared, channel, settings) }
}

module.exports = { prepare }
