'use strict'

const { NONE, whole, size, time, cutOf } = require('./format.cjs')

/**
 * The content of a mark.
 *
 * @typedef {object} Moment
 * @property {number} t ms since the epoch
 * @property {'stop' | 'recycle' | 'cut' | 'drop' | 'crash'} kind determines shape and colour
 * @property {number} [id] its number in the table
 * @property {string} title
 * @property {string} short the title, where several moments share a mark
 * @property {string} gist the facts, where several moments share a mark
 * @property {[string, string][]} facts
 */

/** The worker was not replaced. @param {string} kind of event */
const isLeaving = kind => kind === 'stop' || kind === 'scale'

const NAMES = { recycle: 'Recycle', scale: 'Scaled away', stop: 'Stop', unfinished: 'Unfinished' }

/** @param {(t: number) => string} clock */
function recycleMoment (event, clock) {
  const pids = `${event.oldPid} → ${event.pid ?? NONE}`
  return {
    t: event.drainAt,
    id: event.id,
    kind: event.cut > 0 || event.unaccounted > 0 ? 'cut' : isLeaving(event.kind) ? 'stop' : 'recycle',
    title: `${NAMES[event.kind]} #${event.id}`,
    short: `${NAMES[event.kind]} #${event.id}`,
    gist: `${pids}, ${cutOf(event)} cut`,
    facts: [
      ['at', clock(event.drainAt)],
      ['slot', `${event.slot}, ${pids}`],
      ['reason', event.reason ?? NONE],
      ['memory', `${size(event.rssBefore)} → ${size(event.rssAfter)}`],
      ['ready in', time(event.readyMs)],
      ['drained in', time(event.drainMs)],
      ['in flight', whole(event.inFlight)],
      ['moved', whole(event.moved)],
      ['cut', cutOf(event)]
    ]
  }
}

function dropMoment (drop, clock) {
  const error = drop.status === null ? drop.error : `${drop.error} ${drop.status}`
  const request = `${drop.method ?? ''} ${drop.path ?? ''}`
  return {
    t: drop.t,
    kind: 'drop',
    title: `Dropped: ${error}`,
    short: error,
    gist: request,
    facts: [
      ['at', clock(drop.t)],
      ['request', request],
      ['during', drop.recycle !== null
        ? `recycle #${drop.recycle}, ${drop.phase}`
        : drop.crashed ? `a crash in slot ${drop.slot}` : 'no recycle'],
      ['joined by', drop.joinedBy ?? NONE]
    ]
  }
}

function crashMoment (crash, clock) {
  const how = crash.oomKilled
    ? 'killed by the kernel, because memory ran out'
    : crash.signal ?? `exit code ${crash.code}`
  return {
    t: crash.t,
    kind: 'crash',
    title: 'Crash',
    short: 'crash',
    gist: how,
    facts: [
      ['at', clock(crash.t)],
      ['slot', `${crash.slot}, pid ${crash.pid}`],
      ['how', how],
      ['connections', whole(crash.connections)],
      ['in flight', whole(crash.inFlight)]
    ]
  }
}

module.exports = { NAMES, isLeaving, recycleMoment, dropMoment, crashMoment }
