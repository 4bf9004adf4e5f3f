// The long poll of a browser window, and what it throws. A sprite that has left waits here until the server has taken
// it; one that arrives is acknowledged by the next poll. All of it is in sessionStorage, so a reload loses nothing.

const RETRY_MS = 500
const KEY = 'sprites'

export class Connection {
  #number = 0
  #ack = 0
  #stitch = 0
  #isSending = false
  id = ''
  name = ''
  /** Sprites that have left: { number, edge, sprite }. */
  outgoing = []

  /**
   * @param {string} name
   * @param {object} on
   * @param {(name: string) => void} on.joined
   * @param {(arrived: { edge: string, from: string, sprite: any }[]) => void} on.arrived
   * @param {(neighbours: Record<string, string>) => void} on.neighbours
   * @param {(state: 'live' | 'lost', about?: string) => void} on.state
   * @param {() => unknown} on.save what else is to be there after a reload
   */
  constructor (name, on) {
    this.name = name
    this.on = on
    const saved = JSON.parse(sessionStorage.getItem(KEY) ?? '{}')
    this.restored = saved.page
    if (saved.id) {
      [this.id, this.name, this.#number, this.#ack, this.outgoing] = [
        saved.id, saved.name, saved.number, saved.ack, saved.outgoing
      ]
    }
  }

  save () {
    sessionStorage.setItem(KEY, JSON.stringify({
      id: this.id, name: this.name, number: this.#number, ack: this.#ack, outgoing: this.outgoing, page: this.on.save()
    }))
  }

  async run () {
    if (this.id) this.on.joined(this.name)
    this.#send()
    for (;;) {
      try {
        if (!this.id) await this.#join()
        await this.#poll()
      } catch {
        this.on.state('lost', 'the server is not reached; trying again')
        await delay(RETRY_MS)
      }
    }
  }

  throw (edge, sprite) {
    this.outgoing.push({ number: ++this.#number, edge, sprite })
    this.save()
    this.#send()
  }

  async #join () {
    const response = await fetch(`/join?name=${encodeURIComponent(this.name)}`, { method: 'POST' })
    if (response.status !== 201) throw new Error(String(response.status))
    const { id, name } = await response.json()
    this.id = id
    this.name = name
    this.#ack = this.#stitch = 0
    this.save()
    this.on.joined(name)
  }

  async #poll () {
    const response = await fetch(`/poll?id=${this.id}&ack=${this.#ack}&stitch=${this.#stitch}`)
    // The hub has forgotten it, or a copy of this tab has its place
    if (response.status === 410 || response.status === 409) {
      this.id = ''
      return
    }
    if (response.status !== 200) throw new Error(String(response.status))
    const { sprites, stitch, neighbours } = await response.json()
    const arrived = sprites.filter(({ number }) => number > this.#ack)
    this.#ack = arrived.at(-1)?.number ?? this.#ack
    this.#stitch = stitch
    this.on.neighbours(neighbours)
    this.on.arrived(arrived)
    this.save()
    this.on.state('live', response.headers.get('Sprites-Worker') ?? '')
  }

  /** One after the other, and again until there is an answer: the number has each thrown once. */
  async #send () {
    if (this.#isSending) return
    this.#isSending = true
    while (this.outgoing.length > 0) {
      const { number, edge, sprite } = this.outgoing[0]
      if (this.id && await this.#post(`/sprite?id=${this.id}&edge=${edge}&number=${number}`, sprite)) {
        this.outgoing.shift()
        this.save()
      } else await delay(RETRY_MS)
    }
    this.#isSending = false
  }

  /** @param {string} url @param {unknown} sprite @returns {Promise<boolean>} whether it has been taken */
  async #post (url, sprite) {
    try {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(sprite) })
      await response.text() // a body that is not read keeps the connection
      return response.status === 202
    } catch {
      return false
    }
  }
}

/** @param {number} ms */
function delay (ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}
