'use strict'

/**
 * Test files that run in one process: for small ones, Node.js, tap and the code under test cost more than the test.
 * Each runs alone, too: `node test/core/plan.test.js`.
 */

const fs = require('node:fs')
const path = require('node:path')
const { letClocksJump } = require('./jumping-clock')

const TEST = path.join(__dirname, '..')
const TIMEOUT_MS = 1_200_000 // of all files of a bundle together

/**
 * What each bundle runs: the files whose path in test/ begins so, the longest beginning first. A file that is in none
 * runs for itself.
 */
const BUNDLES = {
  apps: ['apps/'],
  frameworks: ['apps/forked', 'apps/frameworks', 'apps/grpc', 'apps/realtime', 'apps/sticky', 'apps/telemetry'],
  cli: ['cli/'],
  operate: ['cli/operate-', 'operate/'],
  core: ['core/', 'tables/'],
  drill: ['tools/drill/'],
  deploy: ['deploy/'],
  primary: ['native/', 'primary/'],
  worker: ['worker/'],
  features: ['features/'],
  fork: ['features/fork/'],
  parts: ['control/', 'journal/', 'campaign/invariants', 'tools/top/', 'support/'],
  report: ['tools/report/'],
  examples: ['examples/'],
  bench: ['bench/'],
  docs: ['docs/', 'cli/completion'],
  deaths: ['integration/crash', 'integration/death', 'integration/exceptions', 'integration/health', 'integration/poison'],
  drain: ['integration/drain-'],
  failover: ['integration/channel-abuse', 'integration/descriptors', 'integration/failover.', 'integration/wall-clock'],
  forked: ['integration/fork', 'integration/growth'],
  handoff: ['integration/handoff-', 'integration/held-reading', 'integration/lost-account'],
  journal: [
    'integration/children', 'integration/journal-', 'integration/listeners-that-throw', 'integration/memory-by-route',
    'integration/on-disk', 'integration/removed-listeners', 'integration/replaced-globals', 'integration/report'
  ],
  leaks: [
    'integration/condemned-heapdumps', 'integration/gc-profiles', 'integration/leak-line.', 'integration/leak-line-ends',
    'integration/leak-report'
  ],
  listening: [
    'integration/addresses', 'integration/keep-alive', 'integration/lines-over-tcp', 'integration/max-connections', 'integration/plain-workers',
    'integration/sharing', 'integration/ticket-keys', 'integration/udp', 'integration/unix-sockets'
  ],
  recycling: [
    'integration/kernel-alone', 'integration/readiness', 'integration/recycle-', 'integration/restart-loop',
    'integration/surge', 'integration/verdicts'
  ],
  replay: ['integration/early-answer', 'integration/failover-reading', 'integration/protocol-error', 'integration/replay'],
  rollout: ['integration/autoscale', 'integration/limits', 'integration/reconcile', 'integration/rollout'],
  rotation: ['integration/collect', 'integration/out-of-rotation', 'integration/rotation'],
  service: [
    'integration/compile-cache', 'integration/gathering', 'integration/lease', 'integration/model', 'integration/own-user',
    'integration/platforms', 'integration/primary-failures', 'integration/service-notifier', 'integration/slept',
    'integration/socket-activation'
  ],
  signals: ['integration/signal', 'integration/stop-', 'integration/terminal-closes'],
  standby: ['integration/standby'],
  sticky: ['integration/sticky'],
  upgrade: ['integration/upgrade']
}

/** Files in a bundle's folder that need a process of their own. */
const ALONE = ['cli/pid-1', 'deploy/package', 'examples/sprites/page', 'integration/handoff-many', 'tools/report/page/']

/** @type {[string, string | null][]} */
const PLACES = [...Object.entries(BUNDLES), ...ALONE.map(start => /** @type {[null, string[]]} */ ([null, [start]]))]
  .flatMap(([name, starts]) => starts.map(start => /** @type {[string, string | null]} */ ([start, name])))
  .sort(([a], [b]) => b.length - a.length)

/** All files of tests but the bundles, in order. @returns {string[]} their paths in test/ */
function testFiles () {
  return fs.readdirSync(TEST, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.js') && !name.startsWith('bundles/')).sort()
}

/** @param {string} file in test/ @returns {string | null} its bundle */
function bundleOf (file) {
  return PLACES.find(([start]) => file.startsWith(start))?.[1] ?? null
}

/** @param {string} name of a bundle @returns {string[]} its files in test/ */
function filesOf (name) {
  return testFiles().filter(file => bundleOf(file) === name)
}

/**
 * What takes ten seconds or more, the longest first: begun late, the run would wait for each of them alone at its end.
 */
const LONGEST = [
  'bundles/listening', 'bundles/operate', 'bundles/apps', 'bundles/recycling', 'bundles/deaths', 'bundles/cli',
  'integration/canary', 'bundles/failover', 'bundles/forked', 'bundles/rollout', 'bundles/signals', 'bundles/leaks',
  'bundles/drain', 'bundles/service', 'bundles/standby', 'integration/blocked', 'bundles/handoff', 'bundles/upgrade',
  'bundles/sticky', 'campaign/kills/kills', 'bundles/frameworks', 'bundles/deploy', 'bundles/drill',
  'bundles/journal', 'bundles/replay', 'bundles/bench', 'bundles/rotation', 'integration/websockets',
  'deploy/package', 'integration/container', 'integration/output', 'integration/adoption',
  'integration/adoption-counts', 'integration/accept-storm', 'integration/unusual-apps',
  'integration/leak-line-languages', 'integration/start-failures', 'campaign/migration/migration', 'bundles/primary',
  'bundles/examples', 'integration/stop', 'bundles/features', 'integration/verbs-overlap', 'examples/sprites/page',
  'campaign/campaign'
].map(name => `${name}.test.js`)

/** The whole suite: what tap is to run, in this order. @returns {string[]} paths in test/ */
function suite () {
  const alone = testFiles().filter(file => !bundleOf(file))
  const all = [...Object.keys(BUNDLES).map(name => `bundles/${name}.test.js`), ...alone]
  return [...LONGEST.filter(file => all.includes(file)), ...all.filter(file => !LONGEST.includes(file))]
}

/** Runs the files of a bundle, each in the environment that the bundle was started in. @param {string} name */
function run (name) {
  const t = require('tap')
  if (name === 'core' || process.env.CLOCK_SEED) t.comment(`CLOCK_SEED=${letClocksJump()}`)
  const environment = { ...process.env }
  for (const file of filesOf(name)) {
    t.test(`test/${file}`, async t => {
      for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
      Object.assign(process.env, environment)
      t.pass('the tests of this file follow')
    })
    require(path.join(TEST, file))
  }
  t.setTimeout(TIMEOUT_MS)
}

module.exports = { BUNDLES, LONGEST, filesOf, run, suite, testFiles }
