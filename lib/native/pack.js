'use strict'

/**
 * Sources and compiled code of many files in one, of which a process reads the parts that it needs, and which is
 * replaced as a whole.
 *
 * The length of the index in four bytes, the index in JSON, and behind it each file's source and code, in its order.
 * V8 does not check code that it is given: code with one wrong bit ends the process.
 *
 * @typedef {object} Key what a file on disk has while its entry counts @property {number} size bytes
 * @property {number} changed its ctime, ms: npm gives each file of each package the same mtime
 *
 * @typedef {object} Entry
 * @property {Buffer} source UTF-8, as it is compiled
 * @property {Buffer | null} code as V8 has written it; null: none
 */

const fs = require('node:fs')
const { crc32 } = require('node:zlib') // from Node.js 20.15 on
const { attempt } = require('../core/attempt')

const LENGTH_BYTES = 4 // bytes
const ABANDONED_MS = 60 * 1000

class Pack {
  /** @type {number | null} */
  #fd = null
  /**
   * By the name of the file.
   * @type {Map<string, Key & { at: number, sourceLength: number, codeLength: number, sum: number }>}
   */
  #index = new Map()
  /** The last entry that was read: what each of them takes until it is collected would add up. */
  #buffer = Buffer.alloc(0)

  /** @param {string} path of the pack; there may be none, or a damaged one, which is empty */
  constructor (path) {
    this.path = path
    attempt(() => {
      this.#fd = fs.openSync(path, 'r')
      const length = this.#read(0, LENGTH_BYTES).readUInt32LE()
      let at = LENGTH_BYTES + length
      /** @type {[string, number, number, number, number, number][]} */
      const rows = JSON.parse(this.#read(LENGTH_BYTES, length).toString())
      for (const [file, size, changed, sourceLength, codeLength, sum] of rows) {
        this.#index.set(file, { size, changed, at, sourceLength, codeLength, sum })
        at += sourceLength + codeLength
      }
    }, null)
  }

  /**
   * @param {string} file @param {Key} [key] without it, whatever the file on disk is now
   * @returns {Entry | null} valid until the next call; null: the pack has none
   */
  find (file, key) {
    const found = this.#index.get(file)
    if (!found || (key && (key.size !== found.size || key.changed !== found.changed))) return null
    const { at, sourceLength, codeLength, sum } = found
    const bytes = attempt(() => this.#read(at, sourceLength + codeLength), null)
    if (bytes === null || crc32(bytes) !== sum) return null
    return {
      source: bytes.subarray(0, sourceLength),
      code: codeLength > 0 ? bytes.subarray(sourceLength) : null
    }
  }

  /** @param {number} at @param {number} length @returns {Buffer} @throws {Error} where the file is shorter */
  #read (at, length) {
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafeSlow(length)
    const read = fs.readSync(/** @type {number} */ (this.#fd), this.#buffer, 0, length, at)
    if (read < length) throw new Error(`${this.path} is cut short`)
    return this.#buffer.subarray(0, length)
  }

  /**
   * Puts these files in it, beside those that it has. Of several processes that do so at a time one does, and the
   * others throw.
   *
   * @param {Map<string, Key & Entry>} files by their names @throws {Error}
   */
  replace (files) {
    const unfinished = `${this.path}.new`
    const begun = fs.statSync(unfinished, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    const now = Date.now() // eslint-disable-line no-restricted-properties -- the times of files are of the wall clock
    if (now - begun > ABANDONED_MS) fs.rmSync(unfinished)
    const fd = fs.openSync(unfinished, 'wx', 0o600)
    try {
      const all = new Map([...this.#others(files), ...files])
      const index = Buffer.from(JSON.stringify([...all].map(([file, { size, changed, source, code }]) =>
        [file, size, changed, source.length, code?.length ?? 0, crc32(code ?? '', crc32(source))])))
      const length = Buffer.alloc(LENGTH_BYTES)
      length.writeUInt32LE(index.length)
      const parts = [...all.values()].flatMap(({ source, code }) => code ? [source, code] : [source])
      fs.writeFileSync(fd, Buffer.concat([length, index, ...parts]))
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(unfinished, this.path)
  }

  /** @param {Map<string, unknown>} files @returns {Generator<[string, Key & Entry]>} the others that are in it */
  * #others (files) {
    for (const [file, { size, changed }] of this.#index) {
      const entry = files.has(file) ? null : this.find(file)
      if (entry === null) continue
      const { source, code } = entry
      yield [file, { size, changed, source: Buffer.from(source), code: code && Buffer.from(code) }]
    }
  }

  close () {
    if (this.#fd !== null) fs.closeSync(this.#fd)
    this.#fd = null
    this.#index.clear()
    this.#buffer = Buffer.alloc(0)
  }
}

module.exports = { Pack, isPossible: typeof crc32 === 'function' }
