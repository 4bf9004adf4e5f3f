'use strict'

/** The page's copy of the picture: the parts received, merged, without what is older than the window. */
class State {
  /** By slot. @type {Map<number, { t: number, bytes: number, budget: number | null }[]>} */
  #memory = new Map()
  #traffic = []
  #recycleEvents = []
  #crashEvents = []
  #startedAt = Infinity
  t = 0
  about = null
  size = null
  workers = []
  memoryByRoute = null
  autoscale = null
  exceptions = null
  failover = null
  live = []

  add ({ memory, traffic, recycleEvents, crashEvents, ...latest }) {
    const { t, about, size, workers, memoryByRoute, autoscale, exceptions, failover, live = [] } = latest
    Object.assign(this, { t, about, size, workers, memoryByRoute, autoscale, exceptions, failover, live })
    for (const { slot, points } of memory) this.#memory.set(slot, byTime([...this.#memory.get(slot) ?? [], ...points]))
    this.#traffic.push(...traffic)
    this.#recycleEvents.push(...recycleEvents)
    this.#crashEvents.push(...crashEvents)
    const from = t - about.windowMs
    const isRecent = item => item.t > from && item.t <= t // a later time: recorded before the clock was set back
    for (const [slot, points] of this.#memory) {
      const recent = points.filter(isRecent)
      if (recent.length > 0) this.#memory.set(slot, recent)
      else this.#memory.delete(slot)
    }
    this.#traffic = this.#traffic.filter(isRecent)
    this.#recycleEvents = this.#recycleEvents.filter(isRecent)
    this.#crashEvents = this.#crashEvents.filter(isRecent)
  }

  /** The input of the report's charts. */
  get report () {
    const [recycleEvents, crashEvents] = [this.#recycleEvents, this.#crashEvents]
    const events = {
      drops: [], recycleEvents, recycleEventsOmitted: 0, dropped: null, crashEvents, crashEventsOmitted: 0
    }
    return { ...this.about, ...this.range, isLive: true, ...events }
  }

  get series () {
    return {
      client: this.#traffic,
      memory: [...this.#memory].sort(([a], [b]) => a - b).map(([slot, points]) => ({ slot, points }))
    }
  }

  /** The window, or the time since the start if that is less; at least a minute. */
  get range () {
    for (const { t } of [...[...this.#memory.values()].map(points => points[0]), ...this.#traffic.slice(0, 1)]) {
      this.#startedAt = Math.min(this.#startedAt, t)
    }
    return { from: Math.max(this.t - this.about.windowMs, Math.min(this.#startedAt, this.t - 60_000)), to: this.t }
  }
}

const byTime = points => points.sort((a, b) => a.t - b.t)

module.exports = { State }
