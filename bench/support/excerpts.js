'use strict'

/**
 * What bench:gc found, across Nodes, apps and fleets: `{{gc: latency}}` in results/TEMPLATE.md. A table of a results file is of one group,
 * and none of them says by itself where doing without collections pays. Pure.
 */

const { groupName } = require('./gc-profiles')
const { decimal, latest, ratioOf, roundsOf } = require('./results')
const { summary, within } = require('./statistics')
const { markdownTable } = require('./table')

const NODES = [20, 22, 24, 26]
const FLEETS = [1, 5]
const BESIDE = 'default'
/** What each is to those who do not know the bench. */
const APPS = {
  objects: '2 million live objects',
  cache: 'a cache of 300 MB',
  garbage: 'garbage alone',
  leak: 'a leak, recycled anyway',
  external: 'Buffers of 1 MB'
}
const SPACES = ['no-mark-sweep', 'semi-space', 'huge-heap', 'huge-heap+budget', 'new-space-1g']

/**
 * @typedef {object} Place which group
 * @property {number} [node] major version; 20
 * @property {string} app
 * @property {number} workers
 * @property {number} [connections] 50
 * @property {string} load saturation or rate
 * @property {string} [cpu] of its machine, a part of the name; else the one that was gone on with last
 *
 * @typedef {(place: Place, profile?: string) => Figures} Look
 */

/** What one profile did in one group, to be said in a cell. */
class Figures {
  #rounds
  #beside

  /** @param {(Record<string, any> | null)[]} rounds @param {(Record<string, any> | null)[]} beside */
  constructor (rounds, beside) {
    this.#rounds = rounds
    this.#beside = beside
  }

  /** Beside default, with the spread. @param {string} key */
  ratio (key) {
    return ratioOf(within(this.#rounds, this.#beside, key), ' ×')
  }

  /** Beside default, without it. @param {string} key */
  briefly (key) {
    return ratioOf({ ...within(this.#rounds, this.#beside, key), count: 1 }, ' ×')
  }

  /** @param {string} key @param {number} [digits] */
  median (key, digits = 0) {
    return decimal(this.#of(key).median, digits)
  }

  /** @param {string} key */
  range (key) {
    const { min, max } = this.#of(key)
    return [...new Set([decimal(min), decimal(max)])].join('–')
  }

  /** @param {string} key */
  #of (key) {
    return summary(this.#rounds.map(round => round?.[key] ?? NaN))
  }
}

/** @type {Record<string, (look: Look, files: any[]) => string>} */
const EXCERPTS = {
  sum: (_, files) => sumOf(files),

  'huge-heap': look => markdownTable([
    ['`huge-heap` beside default', 'throughput, 1 worker', '… 5 workers', 'p99 below saturation, 1 worker', '… 5 workers', 'peak memory, 1 and 5 workers'],
    ...Object.entries(APPS).map(([app, what]) => {
      const [busy, paced] = ['saturation', 'rate'].map(load => FLEETS.map(workers => look({ app, workers, load }, 'huge-heap')))
      return [what, ...busy.map(is => is.ratio('rps')), ...paced.map(is => is.ratio('p99')), busy.map(is => is.briefly('rssPeakMiB')).join(' and ')]
    })
  ]),

  latency: look => byProfile(look, ['cache', 'objects'], { connections: 50, load: 'rate' }),

  'latency-rest': look => byProfile(look, ['garbage', 'external'], { connections: 50, load: 'rate' }),

  'latency-few': look => byProfile(look, ['cache', 'objects', 'leak'], { connections: 4, load: 'rate' }),

  'nodes-latency': look => byNode(look, ['cache', 'objects'], 'rate', { key: 'p99', title: 'p99 at a fixed rate' }),

  'nodes-throughput': look => byNode(look, ['cache', 'objects'], 'saturation', { key: 'rps', title: 'throughput at saturation' }),

  external: look => markdownTable([
    ['', 'throughput', 'p99', 'CPU per request', 'peak memory', 'mark-sweeps'],
    ...NODES.flatMap(node => FLEETS.map(workers => {
      const place = { node, app: 'external', workers, load: 'saturation' }
      const [was, is] = [look(place), look(place, 'huge-heap')]
      const change = (/** @type {string} */ key) => `${was.median(key)} → ${is.median(key)}`
      return [`Node ${node} × ${workers}`, is.ratio('rps'), is.ratio('p99'), is.ratio('cpuS'), `${change('rssPeakMiB')} MiB`, change('markSweeps')]
    }))
  ]),

  leak: look => markdownTable([
    ['', ...FLEETS.flatMap(workers => [`× ${workers}: throughput`, 'p99', 'CPU per request'])],
    ...NODES.map(node => [`Node ${node}`, ...FLEETS.flatMap(workers => {
      const is = look({ node, app: 'leak', workers, load: 'saturation' }, 'huge-heap+budget')
      return [is.ratio('rps'), is.briefly('p99'), is.briefly('cpuS')]
    })])
  ]),

  'published-slower': look => markdownTable([
    ['', 'profile', '× 1: throughput', 'p99', 'scavenges', 'mark-sweeps', '× 5: throughput', 'p99', 'longest scavenge ms', 'faults/request', 'peak MiB'],
    ...published(look, 'Xeon', SPACES, ([one, many], ratio) => [
      ...ratio(one), one.median('scavenges'), one.median('markSweeps'),
      ...ratio(many), many.median('longestScavengeMs'), many.median('faults', 1), many.median('rssPeakMiB')
    ])
  ]),

  'published-faster': look => markdownTable([
    ['', 'profile', '× 1: throughput', 'p99', 'mark-sweeps', '× 5: throughput', 'p99', 'mark-sweeps'],
    ...published(look, 'AMD', ['no-mark-sweep', 'huge-heap', 'huge-heap+budget'], (fleets, ratio) => fleets.flatMap(fleet => [...ratio(fleet), fleet.median('markSweeps')]))
  ])
}

/**
 * @param {string} name of an excerpt
 * @param {any[]} files results of bench:gc, one for each Node
 * @returns {string} Markdown
 */
function excerpt (name, files) {
  if (!EXCERPTS[name]) throw new Error(`there is no excerpt ${JSON.stringify(name)}; there are ${Object.keys(EXCERPTS).join(', ')}`)
  return EXCERPTS[name](({ node = 20, app, workers, connections = 50, load, cpu = '' }, profile = BESIDE) => {
    const { groups = [], machine = null } = files.find(({ machine }) => machine.node.startsWith(`v${node}.`)) ?? {}
    const here = groups.filter((/** @type {any} */ group) => (group.machine ?? machine).cpu.includes(cpu))
    const subjects = latest(here, groupName({ app, workers, connections, load }))?.subjects ?? []
    return new Figures(roundsOf(subjects, profile), roundsOf(subjects, BESIDE))
  }, files)
}

/** p99 of each profile on Node 20. @param {Look} look @param {string[]} apps @param {{ connections: number, load: string }} where */
function byProfile (look, apps, where) {
  const row = (/** @type {string} */ title, /** @type {string} */ profile, /** @type {(figures: Figures) => string} */ cell) =>
    [title, ...fleetsOf(apps).map(({ app, workers }) => cell(look({ app, workers, ...where }, profile)))]
  return markdownTable([
    ['', ...fleetsOf(apps).map(({ title }) => title)],
    row('default, p99 ms', BESIDE, figures => figures.range('p99')),
    row('… its mark-sweeps', BESIDE, figures => figures.range('markSweeps')),
    row('`no-mark-sweep` (as published)', 'no-mark-sweep', figures => figures.ratio('p99')),
    row('`huge-heap` (memory until something else has the worker replaced)', 'huge-heap', figures => figures.ratio('p99')),
    row('`huge-heap+budget` (recycled in place of collecting)', 'huge-heap+budget', figures => figures.ratio('p99')),
    row('… CPU per request', 'huge-heap+budget', figures => figures.briefly('cpuS')),
    row('… recycles', 'huge-heap+budget', figures => figures.range('recycles')),
    row('`collect`', 'collect', figures => figures.ratio('p99'))
  ])
}

/**
 * What huge-heap did on each Node, between the collections that there were to avoid and the recycles in place of them.
 *
 * @param {Look} look @param {string[]} apps @param {string} load @param {{ key: string, title: string }} column
 */
function byNode (look, apps, load, { key, title }) {
  const row = (/** @type {number} */ node, /** @type {string} */ title, /** @type {string} */ profile, /** @type {(figures: Figures) => string} */ cell) =>
    [`Node ${node}`, title, ...fleetsOf(apps).map(({ app, workers }) => cell(look({ node, app, workers, load }, profile)))]
  return markdownTable([
    [title, 'profile', ...fleetsOf(apps).map(({ title }) => title)],
    ...NODES.flatMap(node => [
      row(node, '`default`: mark-sweeps', BESIDE, figures => figures.range('markSweeps')),
      ...['huge-heap', 'huge-heap+budget'].map(profile => row(node, `\`${profile}\``, profile, figures => figures.ratio(key))),
      row(node, '… recycles', 'huge-heap+budget', figures => figures.range('recycles'))
    ])
  ])
}

/**
 * The published app on each Node; in the row of default its own throughput and p99.
 *
 * @param {Look} look @param {string} cpu @param {string[]} profiles
 * @param {(fleets: Figures[], ratio: (figures: Figures) => string[]) => string[]} cells
 */
function published (look, cpu, profiles, cells) {
  return NODES.flatMap(node => [BESIDE, ...profiles].map(profile => {
    const fleets = FLEETS.map(workers => look({ node, app: 'garbage', workers, load: 'saturation', cpu }, profile))
    const ratio = (/** @type {Figures} */ figures) => profile === BESIDE
      ? [`${figures.median('rps')} /s`, `${figures.median('p99')} ms`]
      : ['rps', 'p99'].map(key => figures.ratio(key))
    return [`Node ${node}`, `\`${profile}\``, ...cells(fleets, ratio)]
  }))
}

/** @param {string[]} apps */
function fleetsOf (apps) {
  return apps.flatMap(app => FLEETS.map(workers => ({ title: `\`${app}\` × ${workers}`, app, workers })))
}

/** All that was measured. @param {any[]} files */
function sumOf (files) {
  const roundsIn = (/** @type {any} */ { groups }) => groups.flatMap((/** @type {any} */ { subjects }) => subjects.flatMap((/** @type {any} */ { rounds }) => rounds)).filter(Boolean)
  const all = files.flatMap(roundsIn)
  const sum = (/** @type {string} */ key) => all.reduce((sum, figures) => sum + (figures[key] ?? 0), 0)
  const lost = sum('dropped') + sum('refused')
  const each = files.map(file => `${decimal(roundsIn(file).length)} on Node ${parseInt(file.machine.node.slice(1))}`)
  return `${decimal(lost)} requests were dropped or not let in, in ${decimal(all.length)} measurements (${each.join(', ')}), of ${decimal(sum('requests') / 1e6, 1)} million requests over ${decimal(sum('recycles'))} recycles and ${decimal(sum('collects'))} collections`
}

module.exports = { excerpt }
