'use strict'

/**
 * In a worker: after a collection, notes how much memory is alive and how many requests of each route there have
 * been, for the primary to find out which of them grow together (route-memory.js). Only after a collection
 * does the heap say anything of what is kept.
 */

const { performance } = require('node:perf_hooks')
const { RouteCounter } = require('./route-counter')

/** @typedef {{ upMs: number, liveBytes: number, markSweeps: number, requests: number[] }} Point see feature.js */

class LiveMemory {
  /** @type {Point | null} */
  #next = null
  #sentAt = -Infinity
  #namesSent = 0
  #markSweeps = 0
  #marksSent = 0

  /** @param {import('../interface').WorkerKernel} kernel */
  constructor ({ channel, tracker, onCollected, liveBytes, beatMs }) {
    this.channel = channel
    this.liveBytes = liveBytes
    this.everyMs = 2 * beatMs
    this.routes = new RouteCounter(tracker)
    onCollected(hasMarkSweep => this.#look(hasMarkSweep))
  }

  /** Sends what was noted last. A mark-sweep is never left out: it alone frees what has become old. */
  beat () {
    const point = this.#next
    if (point === null || (point.markSweeps === this.#marksSent &&
      performance.now() - this.#sentAt < this.everyMs)) return
    const { names } = this.routes
    this.channel.send('memory', { ...point, routes: names.slice(this.#namesSent, point.requests.length) })
    this.#namesSent = point.requests.length
    this.#marksSent = point.markSweeps
    this.#sentAt = performance.now()
    this.#next = null
  }

  /** @param {boolean} hasMarkSweep */
  #look (hasMarkSweep) {
    if (hasMarkSweep) this.#markSweeps++
    // That of a mark-sweep is to be sent first
    if (this.#next !== null && this.#next.markSweeps > this.#marksSent && !hasMarkSweep) return
    this.#next = {
      upMs: Math.round(performance.now()),
      liveBytes: this.liveBytes(),
      markSweeps: this.#markSweeps,
      requests: [...this.routes.counts]
    }
  }
}

module.exports = { LiveMemory }
