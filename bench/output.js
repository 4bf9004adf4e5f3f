'use strict'

/**
 * What it costs that the workers' output passes through the primary (--output lines, --prefix), beside workers that
 * have inherited its stdout: a pipe, read by `cat`. Each request writes one line, of two sizes: as fast as possible,
 * for throughput, and at a fixed rate, for latency. Lines that no JSON parser takes are counted.
 *
 *     npm run bench:output -- [--rounds 5] [--seconds 5] [--connections 50] [--workers 2×CPU+1] [--rate 1000] [--quick]
 */

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { freePort } = require('../lib/tools/drill/target')
const { temporaryFolder } = require('./support/folder')
const { load } = require('./support/load')
const { openBench } = require('./support/rounds')
const { Usage, rssOf } = require('./support/usage')

const BIN = path.join(__dirname, '..', 'bin', 'recycle.js')
const APP = path.join(__dirname, 'apps', 'logging.js')
const TICK_MS = 10

const bench = openBench({
  name: 'output',
  options: { seconds: '5', connections: '50', rate: '1000', workers: String(2 * os.availableParallelism() + 1) },
  quick: { seconds: '0.5', connections: '10', rate: '200', workers: '2' }
})
const { values } = bench
const file = path.join(temporaryFolder(), 'output')

/** @type {Record<string, string[]>} */
const SUBJECTS = { inherit: [], lines: ['--output', 'lines'], 'lines, --prefix': ['--prefix'] }
const KINDS = [300, 8192].flatMap(bytes => [null, Number(values.rate)].map(rate => ({
  name: `lines of ${bytes.toLocaleString('en-US')} bytes, ${rate === null ? 'as fast as possible' : `${rate.toLocaleString('en-US')} requests/s`}`, bytes, rate
})))

bench.run({
  groups: KINDS.map(({ name, bytes, rate }) => ({
    name,
    beside: ['inherit'],
    subjects: Object.fromEntries(Object.entries(SUBJECTS)
      .map(([subject, args]) => [subject, () => measure(args, bytes, rate)]))
  })),
  columns: [
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'p50', title: 'p50 ms', digits: 2 },
    { key: 'p99', title: 'p99 ms', digits: 2, ratio: true, less: true },
    { key: 'cpuUs', title: 'CPU µs/request', digits: 1, ratio: true, less: true },
    { key: 'primaryMs', title: 'CPU of the primary, ms/MB', digits: 1, less: true },
    { key: 'primaryMiB', title: 'primary MiB', digits: 1, less: true },
    { key: 'torn', title: 'torn lines', total: true, less: true },
    { key: 'missing', title: 'missing lines', total: true, less: true }
  ],
  plot: { key: 'rps', title: 'Throughput beside inherited output', ratio: true },
  goals: [
    { subject: 'lines', key: 'torn', atMost: 0 },
    { subject: 'lines', key: 'missing', atMost: 0 },
    { subject: 'lines, --prefix', key: 'torn', atMost: 0 },
    { subject: 'lines, --prefix', key: 'missing', atMost: 0 }
  ]
})

/** @param {string[]} args @param {number} bytes of a line @param {number | null} rate */
async function measure (args, bytes, rate) {
  const port = await freePort()
  const recycle = [process.execPath, BIN, '-w', values.workers, '--control', 'none', '--log', 'silent', '--stop-linger', '100ms', ...args, APP]
  const child = spawn('/bin/sh', ['-c', '"$@" | cat > "$FILE"', 'sh', ...recycle], {
    stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PORT: String(port), BYTES: String(bytes), FILE: file }, detached: true
  })
  const end = () => process.kill(-(child.pid ?? 0), 'SIGKILL')
  process.once('exit', end)
  const closed = once(child, 'close')
  const primary = await primaryAt(port)
  const usage = new Usage(primary)
  const before = cpuMsOf(primary)
  const figures = await load({
    port,
    connections: Number(values.connections),
    rate,
    seconds: Number(values.seconds),
    warmSeconds: values.quick ? 0 : 2
  })
  const used = usage.stop()
  const primaryMs = (cpuMsOf(primary) - before) / (figures.requests * bytes / 1e6)
  const primaryMiB = rssOf(primary) / 1024 ** 2
  process.kill(primary, 'SIGTERM')
  await closed
  process.removeListener('exit', end)
  const lines = fs.readFileSync(file, 'latin1').split('\n').slice(0, -1).map(line => line.replace(/^\[\d+\] /, ''))
  return {
    ...figures,
    cpuUs: used && used.cpuMs * 1000 / figures.requests,
    primaryMs,
    primaryMiB,
    torn: lines.filter(line => !isJson(line)).length,
    missing: figures.requests - lines.length
  }
}

/** @param {number} port @returns {Promise<number>} its pid, when every worker has had time to listen */
async function primaryAt (port) {
  for (;;) {
    const pid = await fetch(`http://127.0.0.1:${port}/primary`, { headers: { connection: 'close' } }).then(response => response.text(), () => null)
    await new Promise(resolve => setTimeout(resolve, pid === null ? 50 : 1000))
    if (pid !== null) return Number(pid)
  }
}

/** Of the process alone. @param {number} pid */
function cpuMsOf (pid) {
  const [utime, stime] = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ').slice(11, 13).map(Number)
  return (utime + stime) * TICK_MS
}

/** @param {string} line */
function isJson (line) {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
