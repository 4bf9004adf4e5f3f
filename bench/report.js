'use strict'

/**
 * The speed and the peak memory of `recycle report`:
 *
 *     npm run bench:report -- [size]      of the journal; 64MiB unless given
 *
 * Writes a journal of that size, as a fleet of five under load would, with the records of a client, and reads it in a
 * process of its own.
 */

const { fork } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { temporaryFolder } = require('./support/folder')
const { answerHelp } = require('./support/help')
const { parseSize, formatSize } = require('../lib/core/units')
const { readReport } = require('../lib/tools/report')

const SLOTS = 5
const RECYCLE_EVERY = 600 // samples

answerHelp()
if (process.send) measure(process.argv[2])
else main(process.argv[2] ?? '64MiB')

/** @param {string} text */
async function main (text) {
  const size = parseSize(text)
  if (!size) {
    console.error(`bench:report: takes a size such as 64MiB; it is "${text}"`)
    process.exit(2)
  }
  const folder = temporaryFolder()
  const file = path.join(folder, 'journal.ndjson')
  const lines = write(file, size)
  const { seconds, peakBytes, verdict } = await read(file)
  const { size: bytes } = fs.statSync(file)
  console.log(`Node ${process.version}, ${os.cpus()[0]?.model ?? os.arch()}`)
  console.log(`${formatSize(bytes)}, ${lines.toLocaleString('en-US')} lines: ${verdict}`)
  console.log(`${(bytes / 1e6 / seconds).toFixed(0)} MB/s, ${Math.round(lines / seconds).toLocaleString('en-US')} lines/s, peak RSS ${formatSize(peakBytes)}`)
}

/** @param {string} file @returns {Promise<{ seconds: number, peakBytes: number, verdict: string }>} */
function read (file) {
  return new Promise((resolve, reject) => {
    fork(__filename, [file]).once('message', resolve).once('error', reject).once('exit', code => {
      if (code !== 0) reject(new Error(`the reader exited with code ${code}`))
    })
  })
}

/** @param {string} file */
async function measure (file) {
  const began = process.hrtime.bigint()
  const { report } = await readReport([file])
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  process.send?.({ seconds, peakBytes: process.resourceUsage().maxRSS * 1024, verdict: report.verdict.text }, () =>
    process.disconnect())
}

/** @param {string} file @param {number} size bytes @returns {number} lines written */
function write (file, size) {
  const fd = fs.openSync(file, 'w')
  const pids = Array.from({ length: SLOTS }, (_, slot) => 1000 + slot)
  const latency = Array.from({ length: 60 }, (_, i) => [Number((0.5 * 1.1 ** i).toPrecision(3)), 100 - i])
  let t = Date.UTC(2026, 0, 1)
  let written = 0
  let lines = 0
  for (let i = 0; written < size; i++) {
    const batch = []
    t += 250
    for (let slot = 0; slot < SLOTS; slot++) {
      const age = (i + slot * RECYCLE_EVERY / SLOTS) % RECYCLE_EVERY
      batch.push({ v: 1, t, event: 'worker.sample', slot, pid: pids[slot], rssBytes: 50e6 + age * 1e5, pssBytes: 21e6, ussBytes: 13e6, meter: 'smaps_rollup', requests: age * 40, silentMs: 67, requested: null, connections: 11, inFlight: 3, elu: 0.31 })
      if (age === RECYCLE_EVERY - 1) batch.push(...recycle(t, slot, pids[slot], pids[slot] += SLOTS))
    }
    batch.push({ v: 1, t, event: 'client.tick', ms: 250, requests: 4000, dropped: 0, latency })
    const text = batch.map(line => `${JSON.stringify(line)}\n`).join('')
    fs.writeSync(fd, text)
    written += text.length
    lines += batch.length
  }
  fs.closeSync(fd)
  return lines
}

/** @param {number} t @param {number} slot @param {number} oldPid @param {number} pid */
function recycle (t, slot, oldPid, pid) {
  return [
    { v: 1, t, event: 'worker.spawn', slot, pid, generation: 0, budget: { metric: 'rss', softBytes: 105e6, hardBytes: 131e6 } },
    { v: 1, t: t + 60, event: 'worker.drain', slot, pid: oldPid, reason: 'rss', connections: 11, inFlight: 3 },
    { v: 1, t: t + 200, event: 'worker.retire', slot, pid: oldPid, code: 0, signal: null, inFlight: 0 },
    { v: 1, t: t + 201, event: 'recycled', slot, pid, oldPid, reason: 'rss', how: 'surge', connections: 11, inFlight: 3, finished: 3, moved: 11, cut: 0, cuts: [], readyMs: 60, drainMs: 139, tookMs: 201, rssBefore: 110e6, rssAfter: 50e6 }
  ]
}
