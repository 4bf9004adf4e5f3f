'use strict'

/** The drill's own options, as data, in the form of lib/tables/options.js. Flags and help come from this table. */

const { RecycleError, badUsage } = require('../../core/errors')
const { hintOnKey } = require('../../tables/habits')
const { readAs, textOf, types: optionTypes } = require('../../core/option-types')
const { OPTIONS, row } = require('../../tables/options')

/**
 * @typedef {ReturnType<typeof row<Kind>>} DrillOption
 *
 * @typedef {object} DrillOptions
 * @property {URL | null} url @property {number} connections @property {number} durationMs @property {string} method
 * @property {string} path @property {Record<string, string | string[]>} headers @property {Buffer | null} body
 * @property {number | null} rate requests per second
 * @property {number[][]} expect ranges of statuses
 * @property {boolean} keepAlive @property {number} timeoutMs @property {number | null} recycleEveryMs
 * @property {number | null} killEveryMs null: never
 * @property {number | null} killPrimaryEveryMs null: never
 * @property {number} loadWorkers @property {string | null} out
 */

/** @type {Record<string, (...a: unknown[]) => Kind>} */
const types = {
  ...optionTypes,
  url: () => ({
    accepts: 'a URL that begins with http:// or https://',
    read: value => {
      const text = value instanceof URL ? value.href : textOf(value)
      return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? new URL(text) : undefined
    }
  }),
  method: () => ({
    accepts: 'an HTTP method, such as GET or POST',
    read: value => {
      const method = textOf(value).toUpperCase()
      const http = require('node:http') // not for those that only list the options
      return http.METHODS.includes(method) && method !== 'CONNECT' ? method : undefined
    }
  }),
  requestPath: () => ({
    accepts: 'a path that begins with /',
    read: value => /^\/[^\s#]*$/.test(textOf(value)) ? value : undefined
  }),
  headers: () => ({ accepts: 'Name: value', read: readHeaders }),
  text: () => ({
    accepts: 'text',
    read: value => Buffer.isBuffer(value) ? value : typeof value === 'string' ? Buffer.from(value) : undefined
  }),
  statuses: () => ({ accepts: 'statuses, classes or ranges, such as 200,404 or 2xx or 200-299', read: readStatuses })
}
/** @import { Kind } from '../../core/option-types' */

/** @type {readonly DrillOption[]} */
const DRILL_OPTIONS = Object.freeze([
  row('connections', '-c, --connections <n>', types.count(1, 100_000), 50, '50',
    'clients, each with one connection at a time'),
  row('duration', '-d, --duration <time>', types.time(100, '100ms'), 30_000, '30s',
    'duration of the load, before the fleet is stopped under it', 'durationMs'),
  row('url', '--url <url>', types.url(), null, 'where the app listens', 'target of the load'),
  row('method', '--method <method>', types.method(), 'GET', 'GET', 'method of each request'),
  row('path', '--path <path>', types.requestPath(), '/', '/', 'path of each request, with its query'),
  row('header', '-H, --header <name: value>', types.headers(), {}, 'none',
    'header of each request; repeatable', 'headers'),
  row('body', '--body <text>', types.text(), null, 'none', 'body of each request'),
  row('rate', '--rate <n>', types.count(1, 1_000_000), null, 'as fast as it goes',
    'requests per second, over all connections; latency then counts from the time a request was due'),
  row('expect', '--expect <statuses>', types.statuses(), [[200, 399]], '2xx,3xx', 'any other status is a drop'),
  row('keepAlive', '--no-keep-alive', types.boolean(), true, 'on', 'one connection for every request'),
  row('timeout', '--timeout <time>', types.time(10, '10ms'), 10_000, '10s',
    'a request without a complete response by then is dropped', 'timeoutMs'),
  row('recycleEvery', '--recycle-every <time>', types.time(10, '10ms'), null, '2s; never, with a budget or kills',
    'interval at which a worker is recycled, slot by slot', 'recycleEveryMs'),
  row('kill', '--kill <time>', types.time(10, '10ms'), null, 'never',
    'interval at which a worker is killed (SIGKILL), slot by slot', 'killEveryMs'),
  row('killPrimary', '--kill-primary <time>', types.time(100, '100ms'), null, 'never',
    'interval at which the supervisor is killed (SIGKILL), and started again', 'killPrimaryEveryMs'),
  row('loadWorkers', '--load-workers <n>', types.count(1, 256), 1, '1', 'processes that make the load'),
  row('out', '--out <file>', types.path(), null, 'none',
    'run file to keep: the journal and the records of the clients, as NDJSON')
])

const DEFAULT_EVERY_MS = 2000

/**
 * Separates the drill's options from the supervisor's, and reads the drill's.
 * @param {Record<string, unknown>} given
 * @param {(option: Pick<DrillOption, 'name' | 'long'>) => string} [nameOf] the option's name for messages
 * @returns {{ own: DrillOptions, supervisors: Record<string, unknown> }}
 * @throws {RecycleError} RECYCLE_BAD_OPTION, RECYCLE_UNKNOWN_OPTION
 */
function partOptions (given, nameOf = option => option.name) {
  const supervisors = { ...given }
  /** @type {any} */
  const own = {}
  for (const option of DRILL_OPTIONS) {
    const { name, key, kind, fallback } = option
    delete supervisors[name]
    const value = given[name] ?? undefined
    own[key] = value === undefined ? fallback : readAs(kind, value, nameOf(option))
  }
  const known = OPTIONS.map(({ name }) => name).filter(name => name !== 'journal') // it is part of the run file
  const unknown = Object.keys(supervisors).find(name => !known.includes(name))
  if (unknown) {
    throw new RecycleError('RECYCLE_UNKNOWN_OPTION', {
      option: unknown,
      hint: hintOnKey(unknown, [...DRILL_OPTIONS.map(({ name }) => name), ...known], 'recycle drill --help')
    })
  }
  if (own.loadWorkers > own.connections) {
    throw badUsage(
      `${own.loadWorkers} load workers cannot share ${own.connections} connections; each needs at least one`)
  }
  if (own.url && given.path === undefined) own.path = own.url.pathname + own.url.search
  return { own, supervisors }
}

/**
 * The interval of forced recycles. With a budget and no interval, only the budget recycles; with kills and no interval,
 * nothing does.
 * @param {DrillOptions} own
 * @param {Pick<import('../../tables/options').Options, 'maxRssBytes' | 'maxRequests' | 'maxAgeMs'>} options its
 * @returns {number | null} ms; null: never
 */
function recycleEveryMs ({ recycleEveryMs, killEveryMs, killPrimaryEveryMs }, { maxRssBytes, maxRequests, maxAgeMs }) {
  const hasBudget = [maxRssBytes, maxRequests, maxAgeMs].some(budget => budget !== null)
  return recycleEveryMs ?? (hasBudget || killEveryMs !== null || killPrimaryEveryMs !== null ? null : DEFAULT_EVERY_MS)
}

/** @param {string | string[] | Record<string, string>} given */
function readHeaders (given) {
  const pairs = typeof given === 'string' || Array.isArray(given)
    ? [given].flat().map(text => /^([^:]+):(.*)$/s.exec(textOf(text))?.slice(1))
    : typeof given === 'object' ? Object.entries(given) : [undefined]
  /** @type {Record<string, string[]>} */
  const headers = {}
  for (const pair of pairs) {
    if (!pair) return undefined
    const name = pair[0].trim().toLowerCase()
    const value = textOf(pair[1]).trim()
    try {
      const http = require('node:http')
      http.validateHeaderName(name)
      http.validateHeaderValue(name, value)
    } catch {
      return undefined
    }
    headers[name] = [...headers[name] ?? [], value]
  }
  return Object.fromEntries(Object.entries(headers)
    .map(([name, values]) => [name, values.length === 1 ? values[0] : values]))
}

/** @param {string | number | (string | number)[]} given */
function readStatuses (given) {
  const ranges = [given].flat().flatMap(item => textOf(item).split(',')).map(text => {
    const [, only, from, to, hundreds] = /^\s*(?:(\d{3})|(\d{3})-(\d{3})|([1-5])xx)\s*$/i.exec(text) ?? []
    if (only) return [Number(only), Number(only)]
    if (from) return [Number(from), Number(to)]
    return hundreds ? [Number(`${hundreds}00`), Number(`${hundreds}99`)] : undefined
  })
  return ranges.every(range => range && range[0] <= range[1]) ? ranges : undefined
}

module.exports = { DRILL_OPTIONS, partOptions, recycleEveryMs }
