'use strict'

/**
 * What the suite costs: CPU seconds by test file, and by kind of process. Runs the test files that are named, or all,
 * one by one. `npm run test:cost -- test/integration/stop.test.js`
 *
 * A file's CPU time is that of its process and of all descendants that were waited for, by /proc/self/stat. Which kind
 * of process took how much is looked at every 30 ms; what ended between two looks is in the column `short`.
 */

const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { suite } = require('./support/bundle')

const LOOK_MS = 30
const TICKS_PER_SECOND = 100
const TIMEOUT_MS = 300_000

/** Kinds of processes, by their command line: the first that fits. @type {[string, RegExp][]} */
const KINDS = [
  ['workers', /--require \S*lib\/worker\/preload|lib\/features\/fork\//],
  ['recycle', /bin\/recycle\.js|lib\/cli\//],
  ['browsers', /chrom/],
  ['node', /^\S*node\b/],
  ['programs', /./]
]
const COLUMNS = ['wall', 'cpu', 'start', 'test', 'recycle', 'workers', 'browsers', 'node', 'programs', 'short', 'waits', 'primaries', 'forks']

/** @param {number | 'self'} pid @returns {{ ppid: number, cpu: number, waitedFor: number } | null} seconds */
function stat (pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const seconds = (/** @type {number} */ i) => (Number(fields[i]) + Number(fields[i + 1])) / TICKS_PER_SECOND
    return { ppid: Number(fields[1]), cpu: seconds(11), waitedFor: seconds(13) }
  } catch {
    return null // it has exited
  }
}

/**
 * @param {number} pid
 * @param {string} file
 * @returns {boolean} the process descends from the test, though its parent may be gone
 */
function isMarked (pid, file) {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`TEST_COST_FILE=${file}\0`)
  } catch {
    return false
  }
}

/** The processes of one test file. */
class Family {
  /** @type {Map<number, { kind: string, cpu: number }>} */
  members = new Map()
  #strangers = new Set([process.pid])
  #file

  /** @param {string} file @param {number} pid of its process */
  constructor (file, pid) {
    this.#file = file
    this.members.set(pid, { kind: 'test', cpu: 0 })
  }

  look () {
    for (const name of fs.readdirSync('/proc')) {
      const pid = Number(name)
      if (!pid || this.#strangers.has(pid)) continue
      const now = stat(pid)
      if (!now) continue
      const known = this.members.get(pid)
      const isOurs = known || this.members.has(now.ppid) || isMarked(pid, this.#file)
      const kind = known?.kind === 'test' ? 'test' : kindOf(pid) ?? known?.kind ?? 'programs'
      if (isOurs) this.members.set(pid, { kind, cpu: now.cpu })
      else this.#strangers.add(pid)
    }
  }
}

/** @param {number} pid @returns {string | undefined} */
function kindOf (pid) {
  try {
    const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')
    return KINDS.find(([, pattern]) => pattern.test(line))?.[0]
  } catch {}
}

/**
 * @param {string} file
 * @param {number} startCpu of a test file that does nothing
 * @returns {Promise<Record<string, any>>}
 */
async function cost (file, startCpu) {
  const before = stat('self')?.waitedFor ?? 0
  const startedAt = Date.now()
  const { NODE_EXTRA_CA_CERTS, ...env } = process.env // as test/tap.js starts it
  const child = spawn(process.execPath, ['--require', require.resolve('./support/bare-tap'), file], { stdio: 'ignore', env: { ...env, TAP_TIMEOUT: String(TIMEOUT_MS / 1_000), TEST_COST_FILE: file } })
  const family = new Family(file, /** @type {number} */ (child.pid))
  const looks = setInterval(() => family.look(), LOOK_MS)
  const deadline = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  const [code] = await once(child, 'close')
  clearInterval(looks)
  clearTimeout(deadline)
  /** @type {Record<string, any>} */
  const row = Object.fromEntries(COLUMNS.map(name => [name, 0]))
  for (const { kind, cpu } of family.members.values()) row[kind] += cpu
  const seen = row.test + row.recycle + row.workers + row.browsers + row.node + row.programs
  row.cpu = Math.max(seen, (stat('self')?.waitedFor ?? 0) - before)
  row.short = row.cpu - seen
  row.start = Math.min(startCpu, row.test)
  row.test -= row.start
  row.wall = (Date.now() - startedAt) / 1_000
  row.waits = Math.max(0, row.wall - row.cpu)
  row.primaries = [...family.members.values()].filter(({ kind }) => kind === 'recycle').length
  row.forks = [...family.members.values()].filter(({ kind }) => kind === 'workers').length
  return { ...row, file, code }
}

/** @returns {number} CPU seconds of a process that loads tap and ends, the median of five */
function startOfATest () {
  const taken = Array.from({ length: 5 }, () => {
    const before = stat('self')?.waitedFor ?? 0
    spawnSync(process.execPath, ['-e', 'require("tap").pass()'], { stdio: 'ignore' })
    return (stat('self')?.waitedFor ?? 0) - before
  })
  return taken.sort((a, b) => a - b)[2]
}

/** @param {string[]} cells */
const print = cells => console.log(cells.map((cell, i) => i === cells.length - 1 ? cell : cell.padStart(9)).join(' '))

/** @param {string[]} named */
async function main (named) {
  const files = named.length ? named : suite().map(file => path.join('test', file))
  const startCpu = startOfATest()
  const rows = []
  print([...COLUMNS, 'seconds of CPU by kind of process; the last two are counts'])
  for (const file of files) {
    const row = await cost(path.relative(process.cwd(), path.resolve(file)), startCpu)
    rows.push(row)
    print([...COLUMNS.map(name => format(name, row[name])), `${row.file}${row.code === 0 ? '' : ` failed: ${row.code}`}`])
  }
  /** @type {Map<string, Record<string, any>[]>} */
  const folders = new Map()
  for (const row of rows) folders.set(path.dirname(row.file), [...folders.get(path.dirname(row.file)) ?? [], row])
  console.log()
  for (const [folder, some] of [...folders, ['all', rows]]) {
    const sum = (/** @type {string} */ name) => /** @type {any[]} */ (some).reduce((total, row) => total + row[name], 0)
    print([...COLUMNS.map(name => format(name, sum(name))), `${folder}: ${some.length} files`])
  }
}

/** @param {string} name @param {number} value */
const format = (name, value) => value.toFixed(name === 'primaries' || name === 'forks' ? 0 : 2)

main(process.argv.slice(2))
