'use strict'

/**
 * Where a function is in the source that its file was compiled from. The map is in the script's own `sourceMappingURL`:
 * inline, as tsx has it, or a file beside the script. What has no map, or a bad one, stays where it is.
 */

const fs = require('node:fs')
const { SourceMap } = require('node:module')
const path = require('node:path')
const { fileURLToPath } = require('node:url')

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
  try {
    return new SourceMap(JSON.parse(readText(url, file)))
  } catch {
    return null // it is gone, or is none
  }
}

/** @param {string} url @param {string} file */
function readText (url, file) {
  const [start, isBase64] = INLINE.exec(url) ?? []
  if (start !== undefined) return isBase64 ? Buffer.from(url.slice(start.length), 'base64').toString() : decodeURIComponent(url.slice(start.length))
  return fs.readFileSync(url.startsWith('file://') ? fileURLToPath(url) : path.resolve(path.dirname(file), decodeURIComponent(url)), 'utf8')
}

/** @param {string} source as the map has it @param {string} file of the script @returns {string} a path */
function resolveSource (source, file) {
  if (source.startsWith('file://')) return fileURLToPath(source)
  const plain = source.replace(SCHEME, '') // webpack://shop/./src/cart.ts
  return plain === source ? path.resolve(path.dirname(file), source) : path.resolve('/', plain)
}

module.exports = { SourceMaps, resolveSource }
