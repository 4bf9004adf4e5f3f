'use strict'

/**
 * The addon by which a worker says where its event loop is blocked. It is apart from lib/native/addon, as it must not
 * be missing where that fails, nor the other way round.
 */

const path = require('node:path')
const { binariesOf, load } = require('../../native/prebuilds')

const FOLDER = path.join(__dirname, 'addon')

/**
 * @typedef {object} Addon
 * @property {(signal: number, fn: () => void) => boolean} onSignal `fn` is called in the middle of what runs then;
 *   false: this Node.js cannot do it
 * @property {string} source the hash of what it was made from; empty where it was built here
 */

/**
 * @param {string[]} [files] @param {string} [platform]
 * @returns {{ addon: Addon, missing: null } | { addon: null, missing: string }} `missing`: why there is none, a
 *   sentence
 */
const loadInterrupt = (files = binariesOf(FOLDER), platform = process.platform) => load(files, platform)

module.exports = { loadInterrupt }
