'use strict'

/**
 * What it costs to run under recycle: bare cluster by both of its policies, recycle with nothing to recycle, and recycle
 * replacing a worker every second. Interleaved, each round beginning with the next: A B C D, B C D A, …; ratios are of medians, beside the better policy.
 *
 *     npm run bench:overhead -- [--rounds 5] [--seconds 5] [--connections 50] [--workers 5] [--quick]
 */

const { spawn, execFile } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { parseArgs, promisify } = require('node:util')

const run = promisify(execFile)
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '50' },
    workers: { type: 'string', default: String(2 * os.availableParallelism() + 1) },
    quick: { type: 'boolean', default: false }
  }
})
const rounds = values.quick ? 1 : Number(values.rounds)
const seconds = values.quick ? '1' : values.seconds
const app = path.join(__dirname, 'apps', 'hello.js')
const PORT = '45671'

const SUBJECTS = {
  'cluster, round robin': () => serve([path.join(__dirname, 'support', 'bare-cluster.js'), 'rr', values.workers, app]),
  'cluster, shared socket': () => serve([path.join(__dirname, 'support', 'bare-cluster.js'), 'none', values.workers, app]),
  'recycle, idle': () => serve([path.join(__dirname, 'support', 'recycle.js'), values.workers, app]),
  'recycle, 1 a second': () => serve([path.join(__dirname, 'support', 'recycle.js'), values.workers, app, 'recycling'])
}

main()

async function main () {
  console.log(`Node ${process.version}, ${os.availableParallelism()} CPUs, ${values.workers} workers, ${values.connections} connections, ${rounds} rounds of ${seconds} s`)
  const results = {}
  for (let round = 0; round < rounds; round++) {
    for (const mode of ['keep-alive', 'close']) {
      const subjects = Object.entries(SUBJECTS)
      for (const [name, start] of [...subjects.slice(round % subjects.length), ...subjects.slice(0, round % subjects.length)]) {
        const server = await start()
        await load('1', mode) // warm-up
        const before = cpuMs(server.pid)
        const figures = await load(seconds, mode)
        figures.cpuUs = Math.round((cpuMs(server.pid) - before) * 1e4 / (figures.rps * Number(seconds))) / 10
        figures.primaryMiB = rssMiB(server.pid)
        await stop(server)
        ;((results[mode] ??= {})[name] ??= []).push(figures)
        if (process.stderr.isTTY) process.stderr.write(`\r${round + 1}/${rounds} ${mode} ${name}: ${figures.rps}/s          `)
      }
    }
  }
  for (const [mode, byName] of Object.entries(results)) print(mode, byName)
  const file = path.join(__dirname, 'results', `overhead-node${process.versions.node.split('.')[0]}.json`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  if (!values.quick) fs.writeFileSync(file, `${JSON.stringify({ node: process.version, cpus: os.cpus()[0]?.model, ...values, results }, null, 1)}\n`)
}

/** @param {string} mode @param {Record<string, any[]>} byName */
function print (mode, byName) {
  const rps = name => median(byName[name].map(f => f.rps))
  const cpu = name => median(byName[name].map(f => f.cpuUs))
  const p99 = name => median(byName[name].map(f => f.p99))
  const [better] = ['cluster, round robin', 'cluster, shared socket'].sort((a, b) => rps(b) - rps(a))
  console.log(`\n${mode === 'close' ? 'a connection per request' : 'keep-alive'}, beside ${better}`)
  for (const [name, list] of Object.entries(byName)) {
    const spread = list.map(f => f.rps).sort((a, b) => a - b)
    console.log([
      name.padEnd(24),
      `${rps(name)}/s (${spread[0]}–${spread.at(-1)})`.padEnd(24),
      `${(rps(name) / rps(better)).toFixed(2)}×`.padEnd(8),
      `p99 ${p99(name)} ms ${(p99(name) / p99(better)).toFixed(2)}×`.padEnd(24),
      // A worker that has been replaced takes the record of its CPU time along.
      (name === 'recycle, 1 a second' ? '' : `CPU ${cpu(name)} µs/request ${(cpu(name) / cpu(better)).toFixed(2)}×`).padEnd(30),
      `primary ${median(list.map(f => f.primaryMiB))} MiB`,
      `errors ${list.reduce((sum, f) => sum + f.errors, 0)}`
    ].join(' '))
  }
}

/** @param {string[]} args */
async function serve (args) {
  const server = spawn(process.execPath, args, { env: { ...process.env, PORT }, stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise(resolve => readline.createInterface({ input: server.stdout }).once('line', resolve))
  return server
}

/** @param {import('node:child_process').ChildProcess} server */
async function stop (server) {
  const gone = new Promise(resolve => server.once('exit', resolve))
  server.kill('SIGTERM')
  await gone
  await new Promise(resolve => setTimeout(resolve, 300))
}

/** @param {string} duration @param {string} mode */
async function load (duration, mode) {
  const { stdout } = await run(process.execPath, [path.join(__dirname, 'support', 'load.js'), PORT, values.connections, duration, mode])
  return JSON.parse(stdout)
}

/** User and system time of a process and its children, in ms: steadier than throughput. @param {number} pid */
function cpuMs (pid) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean)
  const [user, system] = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * 10 + children.reduce((sum, child) => sum + cpuMs(Number(child)), 0)
}

/** @param {number} pid */
function rssMiB (pid) {
  const match = /VmRSS:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Math.round(Number(match?.[1]) / 102.4) / 10
}

/** @param {number[]} values */
function median (values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1]
}
