'use strict'

const NONE = '–'
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']

const whole = value => value === null ? NONE : value.toLocaleString('en-US', { maximumFractionDigits: 0 })

const plural = (value, one, many = `${one}s`) => `${whole(value)} ${value === 1 ? one : many}`

function size (bytes) {
  if (bytes === null || bytes === undefined) return NONE
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
  const value = bytes / 1024 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`
}

/**
 * The cut connections. For a worker that gave no account: from those known to be in flight to all of its connections.
 */
function cutOf ({ kind, cut, unaccounted, lost }) {
  if (kind === 'unfinished') return NONE
  return `${whole(cut)}${unaccounted > 0 ? `–${whole(cut + unaccounted)}` : lost ? '?' : ''}`
}

/** A duration. */
function time (ms) {
  if (ms === null || ms === undefined) return NONE
  if (ms < 1000) return `${Number(ms.toPrecision(3))} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(3))} s`
  const [hours, minutes, seconds] = [
    Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60
  ]
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds} s`
}

/**
 * The time of an event as the charts' axis has it: since the start in a short run, else of day.
 * @param {{ from: number, to: number, isLive?: boolean }} run
 */
function timeOf ({ from, to, isLive = false }) {
  return isLive || !isShort(from, to) ? clockOf({ from, to }) : t => `+${((t - from) / 1000).toFixed(1)} s`
}

/** Formats the time of day, to the millisecond; in a run of many hours with the date, to the second. */
function clockOf ({ from, to }) {
  const hasDate = to - from > 20 * 3_600_000
  return t => {
    const date = new Date(t)
    if (Number.isNaN(date.getTime())) return NONE
    const time = date.toTimeString().slice(0, 8)
    return hasDate ? `${monthDay(date)}, ${time}` : `${time}.${String(date.getMilliseconds()).padStart(3, '0')}`
  }
}

const monthDay = date => date.toLocaleDateString('en-US', { month: 'short', day: 'numeric' })

/** A label of the time axis; midnight is shown as the date. */
function hour (t) {
  const date = new Date(t)
  const time = date.toTimeString().slice(0, date.getSeconds() ? 8 : 5)
  return time === '00:00' ? monthDay(date) : time
}

function day (t) {
  return t === null ? NONE : new Date(t).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}

/** Whether times are shown since the start of the run. */
const isShort = (from, to) => to - from < 15 * 60_000

/** A time at the cursor: since the start in a short run, else the time of day. */
function since (t, from, to) {
  return isShort(from, to) ? `+${((t - from) / 1000).toFixed(to - from < 120_000 ? 1 : 0)} s` : clockOf({ from, to })(t)
}

module.exports = { NONE, whole, plural, size, cutOf, time, clockOf, timeOf, hour, day, since, isShort }
