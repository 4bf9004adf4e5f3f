'use strict'

/** The results of bench:gc, across apps, fleets, Nodes and both load generators. */

const { figuresOf } = require('../support/figures')
const { groupName } = require('../support/gc-profiles')
const { decimal } = require('../support/results')
const { markdownTable } = require('../support/table')

const FLEETS = [1, 5]
const NODES = [20, 22, 24, 26]
const BESIDE = 'default'
const CONNECTIONS = 50

/** A description of each app, readable without the bench. */
const APPS = {
  objects: '2 million live objects',
  cache: 'a cache of 300 MB',
  garbage: 'garbage alone',
  leak: 'a leak, recycled anyway',
  external: 'Buffers of 1 MB'
}

/** @typedef {{ app: string, workers: number, load: string, node?: number }} Place which group */

/** @param {any[]} files @param {Place} place @param {string} subject */
function look (files, { node = 20, ...place }, subject) {
  return figuresOf(files, { node, group: groupName({ connections: CONNECTIONS, ...place }), subject, beside: BESIDE })
}

/** Each app by one profile. @param {any[]} files @param {string} profile */
function byApp (files, profile) {
  return markdownTable([
    [`\`${profile}\` beside default`, 'throughput, 1 worker', '… 5 workers', 'p99 below saturation, 1 worker', '… 5 workers', 'peak memory, 1 and 5 workers'],
    ...Object.entries(APPS).map(([app, what]) => {
      const [busy, paced] = ['saturation', 'rate'].map(load => FLEETS.map(workers => look(files, { app, workers, load }, profile)))
      return [what, ...busy.map(is => is.ratio('rps')), ...paced.map(is => is.ratio('p99')), busy.map(is => is.briefly('rssPeakMiB')).join(' and ')]
    })
  ])
}

/** @type {Record<string, (read: import('.').Read) => string>} */
module.exports = {
  'huge-heap': read => byApp(read('gc-raw'), 'huge-heap'),

  'no-mark-sweep': read => byApp(read('gc-raw'), 'no-mark-sweep'),

  /** The three profiles that --gc has. */
  profiles (read) {
    const files = read('gc-raw')
    const columns = ['huge-heap', 'no-mark-sweep'].flatMap(profile => [{ profile, load: 'saturation', key: 'rps', title: 'throughput' }, { profile, load: 'rate', key: 'p99', title: 'p99 below saturation' }])
    return markdownTable([
      ['one worker, beside default', ...columns.map(({ profile, title }) => `\`${profile}\`: ${title}`), '`huge-heap`: peak memory'],
      ...Object.entries(APPS).map(([app, what]) => [
        what,
        ...columns.map(({ profile, load, key }) => look(files, { app, workers: 1, load }, profile).ratio(key)),
        look(files, { app, workers: 1, load: 'saturation' }, 'huge-heap').briefly('rssPeakMiB')
      ])
    ])
  },

  /** Each Node, one worker. */
  nodes (read) {
    const files = read('gc-raw')
    const columns = ['objects', 'cache', 'external'].flatMap(app => [{ app, load: 'saturation', key: 'rps', title: 'throughput' }, { app, load: 'rate', key: 'p99', title: 'p99 below saturation' }])
    return markdownTable([
      ['`huge-heap` beside default, 1 worker', ...columns.map(({ app, title }) => `${APPS[/** @type {keyof APPS} */ (app)]}: ${title}`)],
      ...NODES.map(node => [`Node ${node}`, ...columns.map(({ key, title, ...place }) => look(files, { node, workers: 1, ...place }, 'huge-heap').ratio(key))])
    ])
  },

  /** The same run by both load generators. */
  generators (read) {
    const files = read('gc-generators')
    const group = groupName({ app: 'garbage', workers: 1, connections: CONNECTIONS, load: 'saturation' })
    const of = (/** @type {string} */ profile, /** @type {string} */ generator, /** @type {string} */ beside) => figuresOf(files, { group, subject: `${profile}, by ${generator}`, beside })
    return markdownTable([
      ['garbage alone, 1 worker', 'autocannon: requests/s', 'beside default', 'raw: requests/s', 'beside default', 'autocannon ÷ raw'],
      ...['default', 'huge-heap', 'no-mark-sweep'].map(profile => [
        `\`${profile}\``,
        ...['autocannon', 'raw'].flatMap(generator => {
          const figures = of(profile, generator, `default, by ${generator}`)
          return [figures.median('rps'), profile === BESIDE ? '1' : figures.ratio('rps')]
        }),
        of(profile, 'autocannon', `${profile}, by raw`).ratio('rps')
      ])
    ])
  },

  /** All measurements with the strict count of drops. */
  sum (read) {
    const files = read('gc-raw')
    const roundsIn = (/** @type {any} */ { groups }) => groups.flatMap((/** @type {any} */ { subjects }) =>
      subjects.flatMap((/** @type {any} */ { rounds }) => rounds)).filter(Boolean)
    const all = files.flatMap(roundsIn)
    const sum = (/** @type {string} */ key) => all.reduce((sum, figures) => sum + (figures[key] ?? 0), 0)
    const each = files.map(file => `${decimal(roundsIn(file).length)} on Node ${parseInt(file.machine.node.slice(1))}`)
    return `${decimal(sum('dropped') + sum('refused'))} requests were dropped or not let in, in ${decimal(all.length)} measurements (${each.join(', ')}), of ${decimal(sum('requests') / 1e6, 1)} million requests over ${decimal(sum('recycles'))} recycles and ${decimal(sum('collects'))} collections`
  }
}
