'use strict'

/**
 * The code of recycle that runs in the workers, as it is when this primary starts: its package may be replaced on disk
 * under a running fleet (npm install), and other code would speak otherwise. From then on workers run what is kept
 * here, out of a folder of this primary's own.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { attempt } = require('../../core/attempt')
const { version } = /** @type {{ version: string }} */ (require('../../../package.json'))
const { binariesOf } = require('../../native/prebuilds')
/** @import { Warning } from '../../journal/events' */

const ROOT = path.join(__dirname, '..', '..', '..')
const PRELOAD = path.join(ROOT, 'lib', 'worker', 'preload.js')
const FEATURES = path.join(ROOT, 'lib', 'features')
const REQUIRED = /\brequire(?:Own)?\('(\.[^']+)'\)/g
const NOT_WORKERS = /\/(?:primary|command|report|verb)$/ // parts of a feature that its feature.js names

/** By its path in the package; of this process, whatever number of fleets it has. @type {Map<string, Buffer> | null} */
let kept = null

class WorkerCode {
  /** @type {string | null} */
  #folder = null
  /** @type {string | null} */
  #said = version

  #isUnkeptSaid = false

  /** @param {(warning: Warning) => void} warn that another version is on disk, or that this one cannot be kept */
  constructor (warn) {
    this.warn = warn
  }

  /** Reads what may be gone later. */
  keep () {
    if (kept || installed() !== version) return
    try {
      kept = closure([PRELOAD, ...featureFiles()])
    } catch (error) {
      if (this.#isUnkeptSaid || installed() !== version) return // it is being replaced just now
      this.#isUnkeptSaid = true
      this.warn({ warning: 'package-unkept', why: /** @type {Error} */ (error).message })
    }
  }

  /** @returns {string} the file that workers are to require first */
  get preload () {
    const found = installed()
    if (found !== this.#said) {
      this.#said = found
      if (found !== version) this.warn({ warning: 'package', found, version })
    }
    return found === version || !kept
      ? PRELOAD
      : path.join(this.#restore(kept), path.relative(ROOT, PRELOAD))
  }

  /** @param {Map<string, Buffer>} kept @returns {string} the folder */
  #restore (kept) {
    if (this.#folder && fs.existsSync(path.join(this.#folder, 'package.json'))) return this.#folder
    // No other user may write to it
    const folder = this.#folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-')))
    for (const [file, content] of kept) {
      fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
      fs.writeFileSync(path.join(folder, file), content)
    }
    return folder
  }

  close () {
    if (this.#folder) fs.rmSync(this.#folder, { recursive: true, force: true })
    this.#folder = null
  }
}

/** @returns {string | null} the version of this package that is on disk now */
const installed = () =>
  attempt(() => String(JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')).version), null)

/** Files that a worker loads by the names of features: see features/by-name.js. */
function featureFiles () {
  const files = fs.readdirSync(FEATURES).map(name => path.join(FEATURES, name, 'worker.js'))
  return files.filter(file => fs.existsSync(file))
}

/**
 * The files, what they require of this package, and the addons in the folders of these. It runs in every start; by
 * require.resolve() it took twice the time.
 * @param {string[]} first @returns {Map<string, Buffer>} by the path in the package
 */
function closure (first) {
  const found = new Map()
  const keep = (/** @type {string} */ file) => {
    const content = fs.readFileSync(file)
    found.set(file.slice(ROOT.length + 1), content)
    return content
  }
  const folders = new Set()
  const asked = new Set(first) // grows below
  for (const request of asked) {
    const file = path.extname(request)
      ? request
      : fs.existsSync(`${request}.js`) ? `${request}.js` : path.join(request, 'index.js')
    const folder = path.dirname(file)
    folders.add(folder)
    const text = keep(file).toString()
    if (!file.endsWith('.js')) continue
    for (const [, required] of text.matchAll(REQUIRED)) {
      if (!NOT_WORKERS.test(required)) asked.add(path.join(folder, required))
    }
  }
  for (const folder of folders) binariesOf(path.join(folder, 'addon')).forEach(keep)
  return found
}

module.exports = { WorkerCode, version }
