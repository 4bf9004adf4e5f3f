'use strict'

/**
 * The JSON schema of `recycle report --json`, in the package as report.schema.json, which `npm run schema` writes. What
 * the report has of a feature is described in its folder.
 */

const { FEATURES } = require('../../features')
const kinds = require('../../core/json-schema')
/** @import { Schema } from '../../core/json-schema' */

const { constant, count, flag, listOf, mapOf, number, oneOf, orNull, record, share, text } = kinds

const LATENCY = record({
  requests: count('how many'),
  mean: count('ms'),
  p50: count('ms'),
  p90: count('ms'),
  p99: count('ms'),
  p999: count('ms'),
  max: count('ms')
})

const PAUSES = {
  count: count('how many'),
  totalMs: count('ms'),
  longestMs: count('ms'),
  share: share("of the workers' time")
}

const DROP = record({
  t: number('when the client saw it, ms since the epoch'),
  startedAt: number('when the request was sent, ms since the epoch'),
  error: text("reset, closed-before-response, closed-during-response, timeout, status, refused, or the error's code"),
  status: orNull(number(), 'status of the response; null: there was none'),
  method: orNull(text(), 'of the request'),
  path: orNull(text(), 'of the request'),
  localPort: orNull(number(), "the client's port"),
  reused: flag('the connection had carried a request before'),
  recycle: orNull(number(), 'id of the recycle during which it was dropped; null: none'),
  slot: orNull(number(), 'of that recycle or crash'),
  oldPid: orNull(number(), 'the worker that was leaving, or crashed'),
  pid: orNull(number(), 'its replacement'),
  phase: oneOf(['surge', 'drain', 'kill', 'none'], 'surge: the replacement boots and the old worker serves; drain: the old worker finishes its requests; kill: it exits; none: no worker was being replaced'),
  joinedBy: orNull(oneOf(['port', 'time']), 'port: the supervisor cut this connection; time: it happened during the recycle'),
  crashed: flag('it was dropped at a crash, not during a recycle')
})

const RECYCLE_EVENT = record({
  id: number('1, 2, 3 … as they ended'),
  kind: oneOf(['recycle', 'scale', 'stop', 'unfinished'], 'unfinished: the journal ends before the drain does'),
  slot: orNull(number(), 'of the worker'),
  oldPid: orNull(number(), 'the worker that left'),
  pid: orNull(number(), 'its replacement'),
  reason: orNull(text(), 'rss, hard-rss, heap, fds, lag, requests, age, stuck, unhealthy, requested, reload, upgrade, protocol-error, scale or stop'),
  how: orNull(text(), 'surge, standby, drain-first, or upgrade: by the worker of another primary'),
  beganAt: number('the replacement was spawned, or the drain began, ms since the epoch'),
  drainAt: number('the drain began, ms since the epoch'),
  drainedAt: number('the old worker gave its account, ms since the epoch'),
  retiredAt: number('the old worker exited, ms since the epoch'),
  t: number('the end of the event, ms since the epoch'),
  readyMs: orNull(number(), "the replacement's boot, ms"),
  drainMs: orNull(number(), 'ms'),
  tookMs: orNull(number(), 'all of it, ms'),
  rssBefore: orNull(number(), "bytes, the old worker's"),
  rssAfter: orNull(number(), "bytes, the replacement's"),
  connections: orNull(count(), 'open when the drain began'),
  inFlight: orNull(count(), 'requests in flight when the drain began'),
  finished: orNull(count(), 'requests that completed during the drain'),
  aborted: orNull(count(), 'requests that the client aborted'),
  moved: orNull(count(), 'connections that a sibling took over'),
  refused: orNull(count(), 'offers that no sibling took'),
  takenBack: orNull(count(), 'offers that no sibling took, served here to the end'),
  replayed: orNull(count(), 'requests that a sibling had to answer instead'),
  closedByClient: orNull(count(), 'connections'),
  closedAfterResponse: orNull(count(), 'connections closed by Connection: close'),
  closedIdle: orNull(count(), 'connections'),
  streamsCut: orNull(count(), 'connections'),
  cut: orNull(count(), 'connections that ended with a request in flight'),
  unacked: orNull(count(), 'offers that were never acknowledged: their outcome is not known'),
  unaccounted: orNull(count(), 'connections of a worker that gave no account: their requests are not known'),
  lost: flag('the worker gave no account; cut is by its last beat'),
  ended: orNull(oneOf(['retired', 'killed', 'crashed']), 'killed: by recycle, at --kill-timeout or for want of an account; null: not known'),
  cuts: listOf(record({
    method: orNull(text(), 'null: the request head was incomplete, or the protocol is not HTTP'),
    path: orNull(text(), 'without its query'),
    ageMs: orNull(number(), 'time in flight, ms'),
    remotePort: orNull(number(), "the client's port"),
    upgraded: flag('such as a WebSocket, which only the app can end')
  }), 'each request that was cut'),
  restarted: mapOf(count(), 'WebSockets closed for a service restart (1012), whatever their end, by the reason for which they did not move'),
  dropped: count('requests that the client lost during it')
})

const CRASH_EVENT = record({
  t: number('ms since the epoch'),
  slot: orNull(number(), 'of the worker'),
  pid: orNull(number(), 'of the worker'),
  code: orNull(number(), 'exit code'),
  signal: orNull(text(), 'that ended it'),
  oomKilled: flag('by the kernel, because memory ran out'),
  connections: orNull(count(), 'by its last beat; null: an older journal does not record it'),
  inFlight: count('requests, by its last beat')
})

/** @returns {Record<string, Schema>} by key; a list has the number of the earlier ones beside it that are left out */
function fieldsOfFeatures () {
  return Object.assign({}, ...FEATURES.flatMap(({ report }) => report ?? []).map(({ key, schema }) => {
    const field = schema()(kinds)
    return { [key]: field, ...field.type === 'array' && { [`${key}Omitted`]: number('earlier ones that are not listed') } }
  }))
}

const FIELDS = {
  v: constant(1, 'version of this schema'),
  verdict: record({
    exitCode: oneOf([0, 1, 2], '2: nothing was dropped or cut as far as is recorded, and the journal has gaps'),
    ok: flag("nothing was dropped, nothing cut, and no connection ended with a worker that crashed or gave no account, unless every connection was the client's"),
    text: text('the sentence that the report begins with')
  }),
  app: orNull(text(), "the app's file"),
  node: orNull(text(), "version of the supervisor's Node"),
  workers: orNull(number(), 'as the fleet was started'),
  metric: text('rss, anon, pss or uss: the figure that is compared with the budget'),
  from: orNull(number(), 'the first line, ms since the epoch'),
  to: orNull(number(), 'the last line, ms since the epoch'),
  client: orNull(record({
    url: orNull(text(), 'where the load went'),
    connections: count('of the load'),
    sockets: orNull(count(), 'connections that the load has opened in all; null: not recorded'),
    kills: count('workers that the load has killed'),
    isAlone: flag("the fleet was started for this load: every connection was the load's"),
    wasCutShort: flag('its records end early')
  }), 'null: the files have no client records'),
  requests: orNull(count(), 'requests that the client sent and that ended; null without client records'),
  dropped: orNull(count(), 'requests without a complete response with an expected status; null without client records'),
  recycles: count('workers that were replaced'),
  crashes: count('workers that exited unexpectedly'),
  crashesInDrains: count('those of them that were draining: what they lost is in the account of the drain'),
  oomKills: count('workers that the kernel killed because memory ran out: crashes, and workers that were leaving'),
  connectionsAtCrashes: count('connections of crashed workers, by their last beats'),
  inFlightAtCrashes: count('requests in flight of crashed workers, by their last beats'),
  moved: count('connections that a sibling took over'),
  refused: count('offers that no sibling took'),
  takenBack: count('offers that no sibling took, served by the old worker to the end'),
  unacked: count('offers that were never acknowledged: their outcome is not known'),
  cut: count('connections that the supervisor ended with a request in flight, in recycles, when scaling and when stopping'),
  streamsCut: count('WebSockets and raw connections that the app had not ended, closed at the drain timeout; not among cut'),
  restarted: mapOf(count(), 'WebSockets closed for a service restart (1012), by the reason for which they did not move; stop: the fleet stopped'),
  unaccounted: count('connections that ended with a worker that gave no account: their requests are not known'),
  byReason: mapOf(count(), 'recycles by their reason'),
  latency: record({
    steady: orNull(LATENCY),
    recycling: orNull(LATENCY)
  }, 'as the client saw it: while a worker was being replaced, scaled away or stopped, and else; null where nothing was seen'),
  gc: orNull(record({
    scavenges: record(PAUSES, 'collections of the new space'),
    markSweeps: record(PAUSES, 'collections of the whole heap'),
    workersMs: count('time of all workers that the samples cover, added up'),
    longestLoopLagMs: count("longest delay of a worker's event loop")
  }), 'pauses by garbage collections, by the samples of all workers; null: the journal does not record them'),
  drops: listOf(DROP, 'every drop; of very many the latest'),
  dropsOmitted: count('drops that are not listed'),
  recycleEvents: listOf(RECYCLE_EVENT, 'every worker that was replaced, scaled away or stopped; of very many the latest, and those that cut or dropped something'),
  recycleEventsOmitted: count('events that are not listed'),
  crashEvents: listOf(CRASH_EVENT, 'every crash; of very many the latest'),
  crashEventsOmitted: count('crashes that are not listed'),
  clockSetForwardMs: count("the machine's clock was set forward by so much, or the machine slept: durations are right"),
  gaps: listOf(record({
    from: orNull(number(), 'ms since the epoch'),
    to: orNull(number(), 'ms since the epoch; null: the journal ends before'),
    why: text()
  }), 'what the journal does not say: the first hundred'),
  clockSetBackMs: count("by how much, in all, the machine's clock was set back between two lines of the supervisor: times may not be in order; durations are right"),
  disagreements: listOf(record({
    recycle: orNull(number(), 'id; null: outside any recycle'),
    client: count('requests that the client lost'),
    supervisor: count('requests that the supervisor cut')
  }), 'disagreements between client and supervisor; empty without client records'),
  skippedLines: count('lines that were skipped: truncated, or of another version')
}

/** @returns {Schema} */
function reportSchema () {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://www.npmjs.com/package/recycle-supervisor/report.v1.json',
    title: 'recycle report --json',
    ...record(
      { ...FIELDS, ...fieldsOfFeatures() },
      'Version 1. Fields are added within a version, never removed or changed in meaning.'
    )
  }
}

module.exports = { reportSchema }
