'use strict'

// `node sized.js <MiB> [seconds]`: a process of that RSS, in Buffers. Prints "ready".  With seconds it works on fresh
// memory for that long at SIGUSR2, and prints two times in µs: `map`, to get 64 MiB from the kernel, and `fault`, to
// touch 16 pages of them for the first time. Needs --expose-gc then.
const { percentiles } = require('./statistics')

const MIB = 1024 ** 2
const FRESH_BYTES = 64 * MIB // more than glibc serves from its free lists
const PAGE_BYTES = 4096
const BATCH_BYTES = 16 * PAGE_BYTES

const [, , size, seconds] = process.argv
/** @type {unknown[]} */
const kept = []
while (process.memoryUsage.rss() < Number(size) * MIB) {
  kept.push(Buffer.alloc(MIB, 1))
}
if (seconds) process.once('SIGUSR2', work)
console.log('ready')
setInterval(() => kept.length, 1e9)

function work () {
  const until = performance.now() + Number(seconds) * 1000
  const map = []
  const fault = []
  while (performance.now() < until) {
    let began = performance.now()
    const fresh = Buffer.allocUnsafeSlow(FRESH_BYTES)
    map.push(1000 * (performance.now() - began))
    for (let at = 0; at < FRESH_BYTES; at += BATCH_BYTES) {
      began = performance.now()
      for (let i = 0; i < BATCH_BYTES; i += PAGE_BYTES) fresh[at + i] = 1
      fault.push(1000 * (performance.now() - began))
    }
    global.gc?.() // gives it back
  }
  console.log(JSON.stringify({ map: percentiles(map), fault: percentiles(fault) }))
}
