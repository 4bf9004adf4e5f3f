'use strict'

/**
 * `--workers <min>..<max>`: as many workers as the load needs.
 *
 * @typedef {{ autoscale: Readonly<import('../../core/container-budget').Bounds> | null }} Options of that option; null:
 *   the fleet keeps its size
 */

/** @param {{ busy: number }} line */
const sayBusy = ({ busy }) => `as much to do as ${busy.toFixed(1)} workers have time for`

/**
 * @typedef {object} SizeWords of what status() has by its key
 * @property {string} key
 * @property {Record<string, (line: { busy: number, requestsPerSecond: number }) => string>} reasons for which it
 *   scales: how a sentence of `fleet.scale` ends
 * @property {(about: unknown) => string} beside what follows the number of workers in the status
 * @property {(about: unknown) => string} scaled the same after `recycle scale`, whose result has the description, too
 */

/** @type {Readonly<import('..').Feature & { sizeWords: SizeWords }>} */
module.exports = Object.freeze({
  name: 'elastic',
  options: () => [],
  group: '',
  isOn: ({ autoscale }) => autoscale !== null,
  events: { 'fleet.load': { level: 'quiet' } },
  warnings: {
    'autoscale-bounds': ({ max, asked, by, cpus, limitBytes, source }, { count, size }) =>
      `at most ${count(max, 'worker')} and not ${asked}: ` + (by === 'memory'
        ? `the memory limit of ${size(limitBytes)} (${source}) is not enough for more`
        : `2×CPU+1 for ${count(cpus, 'CPU')}`),
    'autoscale-no-room': (line, { count }) => `${count(line.workers, 'worker')} are not enough for the load ` +
      `(${sayBusy(line)}), and the memory has no room for one more`
  },
  primary: () => kernel => new (require('./primary').Sizing)(kernel),
  metrics: [
    {
      name: 'slots_bound',
      help: 'The bounds of the intended number of workers; both are that number, unless --workers is <min>..<max>.',
      labels: ['bound'],
      values: ({ autoscale, totals: { workers } }) =>
        [[{ bound: 'min' }, autoscale?.min ?? workers], [{ bound: 'max' }, autoscale?.max ?? workers]]
    },
    {
      name: 'slots_pinned',
      help: 'With --workers <min>..<max>: 1 while a command has set the number of workers, else 0.',
      labels: [],
      values: ({ autoscale }) => [[{}, Number(autoscale?.isPinned ?? false)]]
    }
  ],
  status: { key: 'autoscale' },
  sizeWords: {
    key: 'autoscale',
    reasons: {
      busy: line => `: ${sayBusy(line)} at ${line.requestsPerSecond} requests/s`,
      idle: line => `: at most ${sayBusy(line)} of late`,
      bounds: () => ', the bound of --workers'
    },
    beside: ({ min, max, isPinned, busy }) =>
      ` (${isPinned ? 'pinned, else ' : ''}${min} to ${max}${busy === null ? '' : `, ${busy.toFixed(1)} busy`})`,
    scaled: ({ min, max, isPinned }) =>
      isPinned ? '; recycle scale auto: by the load again' : `, and ${min} to ${max} by the load`
  },
  report: 'scaling'
})
