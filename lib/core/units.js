'use strict'

/**
 * Sizes and times as users write them, such as "512MiB" and "30s". They are parsed only here; elsewhere a name carries
 * its unit (`rssBytes`, `intervalMs`).
 */

const bytes = require('bytes')
const ms = require('ms')

// `bytes` ignores a unit that it does not know ("512M" is 512 bytes), so the form is checked first.
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt])?(i?b)?$/i
const TIME = /^(?:\d+(\.\d+)?\s*[a-z]+|0+)$/i

/**
 * A size in bytes. K, M, G, T, with or without B or iB, are powers of 1024, as in Docker, pm2 and systemd.
 * @param {string | number} text `"512MiB"`, `"512M"`, `"1.5g"`, `"4096"` or a number of bytes
 * @returns {number | undefined} whole bytes; undefined: not a size
 */
function parseSize (text) {
  const match = SIZE.exec(String(text).trim())
  if (!match) return undefined
  return Math.round(/** @type {number} */ (bytes.parse(`${match[1]}${match[2] ?? ''}b`)))
}

/**
 * A time in milliseconds. Without a unit only 0 is one: 30 is seconds to gunicorn, Puma, systemd and Kubernetes, and
 * milliseconds to pm2.
 * @param {string | number} text `"30s"`, `"1.5h"`, `"250ms"`, `"0"` or 0
 * @returns {number | undefined} milliseconds; undefined: not a time
 */
function parseTime (text) {
  const trimmed = String(text).trim()
  if (!TIME.test(trimmed)) return undefined
  const time = ms(/** @type {import('ms').StringValue} */ (trimmed))
  return Number.isFinite(time) ? time : undefined
}

/** @param {unknown} text @returns {string | undefined} what to write for a number alone; undefined: it is none */
function withUnit (text) {
  const number = /^\d+(\.\d+)?$/.exec(String(text).trim())?.[0]
  return number === undefined || Number(number) === 0
    ? undefined
    : `a time with a unit: ${number}s for seconds, or ${number}ms for milliseconds`
}

/** @param {number} size bytes @returns {string} `"512 MiB"`, `"1.5 GiB"`: three digits, so that neighbours differ */
function formatSize (size) {
  const tenths = bytes.format(size, { decimalPlaces: 1, unitSeparator: ' ' }) ?? `${size} B`
  const text = parseFloat(tenths) < 100
    ? tenths
    : bytes.format(size, { decimalPlaces: 0, unitSeparator: ' ' }) ?? tenths
  return text.replace(/([KMGTP])B$/, '$1iB')
}

/** @type {readonly [number, string][]} */
const TIME_UNITS = [[86_400_000, 'd'], [3_600_000, 'h'], [60_000, 'm'], [1000, 's']]

/** @param {number} time milliseconds @returns {string} `"250ms"`, `"1.5m"`, `"30s"` */
function formatTime (time) {
  const [unitMs, unit] = TIME_UNITS.find(([ms]) => time >= ms) ?? [1, 'ms']
  return unitMs === 1 ? `${Math.round(time)}ms` : `${Math.round(time / unitMs * 10) / 10}${unit}`
}

/**
 * By toLocaleString() only where there is no other way: it loads 8 MB of ICU's data.
 * @param {number} n @returns {string} `"1,234"`
 */
function grouped (n) {
  const whole = Math.round(n)
  return Number.isSafeInteger(whole)
    ? String(whole).replace(/\B(?=(\d{3})+$)/g, ',')
    : Number(n).toLocaleString('en-US')
}

/** @param {number} n @param {string} one @param {string} [many] @returns {string} `"1 worker"`, `"1,234 requests"` */
const count = (n, one, many = `${one}s`) => `${grouped(n)} ${n === 1 ? one : many}`

module.exports = { parseSize, parseTime, withUnit, formatSize, formatTime, grouped, count }
