'use strict'

/**
 * In the worker under study: V8's sampling heap profiler runs from before the app is loaded, and is read out of
 * rotation, after a collection. Inlined functions would count for the function that they were inlined into, so this
 * worker is started with flags that have V8 inline none.
 */

const inspector = require('node:inspector')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const fs = require('node:fs')
const { SourceMap } = require('node:module')
const { fileURLToPath } = require('node:url')
const { attempt } = require('../../core/attempt')
const { collect } = require('../../worker/vitals/memory')
const { fileOf, kindOf } = require('./frames')
const { growthOf } = require('./growth')
const { Stacks, readProfile, bytesOf } = require('./samples')
/** @import { WorkerKernel, WorkerPart } from '../interface' */

/** @typedef {{ intervalBytes: number, flags: string[] }} Settings */

const SAMPLING = { includeObjectsCollectedByMajorGC: false, includeObjectsCollectedByMinorGC: false }
const OWN_FOLDER = path.join(__dirname, '../../..') + path.sep

/** @param {WorkerKernel} kernel @param {Settings} settings @returns {WorkerPart} */
function profileAllocations ({ channel, tracker }, { intervalBytes, flags }) {
  // The app's child processes are none of this
  process.execArgv = process.execArgv.filter(argument => !flags.includes(argument))
  const session = new inspector.Session()
  session.connect()
  /** @type {Map<string, string>} */
  const mapUrls = new Map()
  session.on('Debugger.scriptParsed',
    ({ params: { scriptId, sourceMapURL = '' } }) => { mapUrls.set(scriptId, sourceMapURL) })
  post(session, 'HeapProfiler.startSampling', { ...SAMPLING, samplingInterval: intervalBytes })
  let maps = new SourceMaps(() => '')
  const places = { app: process.argv[1] ?? '/', own: OWN_FOLDER }
  const stacks = new Stacks(({ scriptId, url, functionName: name, lineNumber: line, columnNumber: column }) => {
    const file = fileOf(url)
    const found = file.startsWith('/') ? maps.find({ scriptId, file, line, column }) : null
    if (found === 'generated') return { name, file, line: line + 1, column: column + 1, kind: 'generated' }
    const at = found ?? { file, line, column }
    return { name, file: at.file, line: at.line + 1, column: at.column + 1, kind: kindOf(at.file, places) }
  })
  /** @type {import('./samples').Reading[]} */
  const readings = []
  /** @type {number[]} */
  const requests = []

  return {
    tasks: {
      'leak-reading' ({ isWhole }) {
        const began = performance.now()
        collect()
        const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
        const { profile } = post(session, 'HeapProfiler.getSamplingProfile')
        post(session, 'Debugger.enable') // V8 names each script, with its source map
        post(session, 'Debugger.disable')
        maps = new SourceMaps(scriptId => mapUrls.get(scriptId) ?? '')
        const ownBytes = readings.reduce((sum, reading) => sum + bytesOf(reading), 0)
        readings.push(readProfile(profile, stacks))
        requests.push(tracker.requests.begun)
        mapUrls.clear()
        maps = new SourceMaps(() => '') // they are large
        const how = {
          intervalBytes, isWhole, isIgnored: (/** @type {{ file: string }} */ { file }) => file.startsWith(__dirname)
        }
        const growth = readings.length > 1 ? JSON.stringify(growthOf(readings, requests, stacks, how)) : null
        channel.send('leak-reading', {
          requests: tracker.requests.begun, rssBytes: rss, heapTotalBytes: heapTotal, heapUsedBytes: heapUsed,
          externalBytes: Math.max(0, external - ownBytes), growth
        })
        return { pauseMs: performance.now() - began }
      }
    }
  }
}

/**
 * In this thread a session answers at once.
 * @param {inspector.Session} session @param {string} method @param {object} [params] @returns {any}
 */
function post (session, method, params = {}) {
  /** @type {unknown} */
  let answer
  session.post(method, params, (error, result) => {
    if (error) throw error
    answer = result
  })
  return answer
}

/**
 * Where a function is in the source that its file was compiled from. The map is in the script's own `sourceMappingURL`:
 * inline, as tsx has it, or a file beside the script. What has no map, or a bad one, stays where it is.
 */

const INLINE = /^data:application\/json[^,]*?(;base64)?,/
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i

class SourceMaps {
  /** By the script's id. @type {Map<string, SourceMap | null>} */
  #maps = new Map()

  /** @param {(scriptId: string) => string} urlOf its `sourceMappingURL`; '': it has none */
  constructor (urlOf) {
    this.urlOf = urlOf
  }

  /**
   * @param {{ scriptId: string, file: string, line: number, column: number }} at line and column from 0
   * @returns {{ file: string, line: number, column: number } | 'generated' | null} from 0; generated: no source has it;
   *   null: there is no map
   */
  find ({ scriptId, file, line, column }) {
    const map = this.#mapOf(scriptId, file)
    if (map === null) return null
    const entry = /** @type {Partial<import('node:module').SourceMapping>} */ (map.findEntry(line, column))
    if (entry.originalSource === undefined || entry.originalLine === undefined) return 'generated'
    return {
      file: resolveSource(entry.originalSource, file), line: entry.originalLine, column: Number(entry.originalColumn)
    }
  }

  /** @param {string} scriptId @param {string} file */
  #mapOf (scriptId, file) {
    const known = this.#maps.get(scriptId)
    if (known !== undefined) return known
    const map = readMap(this.urlOf(scriptId), file)
    this.#maps.set(scriptId, map)
    return map
  }
}

/** @param {string} url @param {string} file of the script @returns {SourceMap | null} */
function readMap (url, file) {
  if (url === '') return null
  return attempt(() => new SourceMap(JSON.parse(readText(url, file))), null) // it is gone, or is none
}

/** @param {string} url @param {string} file */
function readText (url, file) {
  const [start, isBase64] = INLINE.exec(url) ?? []
  if (start !== undefined) {
    return isBase64
      ? Buffer.from(url.slice(start.length), 'base64').toString()
      : decodeURIComponent(url.slice(start.length))
  }
  const map = url.startsWith('file://')
    ? fileURLToPath(url)
    : path.resolve(path.dirname(file), decodeURIComponent(url))
  return fs.readFileSync(map, 'utf8')
}

/** @param {string} source as the map has it @param {string} file of the script @returns {string} a path */
function resolveSource (source, file) {
  if (source.startsWith('file://')) return fileURLToPath(source)
  const plain = source.replace(SCHEME, '') // webpack://shop/./src/cart.ts
  return plain === source ? path.resolve(path.dirname(file), source) : path.resolve('/', plain)
}

module.exports = { part: profileAllocations, SourceMaps, resolveSource }
