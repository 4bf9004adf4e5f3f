// A sprite in this window: it is thrown, slows down, and leaves over an edge.

const SVG = 'http://www.w3.org/2000/svg'
const RADIUS = 32
/** Of the speed, per second. */
const FRICTION = 2
/**
 * How far the hardest throw goes, in windows: off an edge from nearly everywhere, and not through the next one as well.
 */
const REACH = 0.9
const SLOWEST_IN = 220 // px/s at which a sprite comes in
/** Of a throw: the pointer's movement in this time counts. */
const FLICK_MS = 80
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

export class Sprite {
  isHeld = false

  /**
   * @param {{ key: string, hue: number, x: number, y: number, vx?: number, vy?: number, trips?: number }} about in px
   *   and px/s
   * @param {HTMLElement} desktop
   */
  constructor ({ key, hue, x, y, vx = 0, vy = 0, trips = 0 }, desktop) {
    Object.assign(this, { key, hue, x, y, vx, vy, trips, desktop })
    this.element = document.createElement('button')
    this.element.className = 'sprite'
    this.element.dataset.key = key
    this.element.setAttribute('aria-label', 'Sprite. An arrow key throws it.')
    const { svg, eyes } = draw(hue)
    this.eyes = eyes
    this.element.append(svg)
    this.#listen()
    desktop.append(this.element)
    this.show()
  }

  /** One that was thrown in another window comes in. */
  static entering ({ edge, sprite: { key, hue, at, vx, vy, trips } }, desktop) {
    const { clientWidth: width, clientHeight: height } = desktop
    const inward = (/** @type {number} */ speed) => Math.max(Math.abs(speed), SLOWEST_IN)
    const where = {
      left: { x: -RADIUS, y: at * height, vx: inward(vx), vy },
      right: { x: width + RADIUS, y: at * height, vx: -inward(vx), vy },
      up: { x: at * width, y: -RADIUS, vx, vy: inward(vy) },
      down: { x: at * width, y: height + RADIUS, vx, vy: -inward(vy) }
    }[edge]
    return new Sprite({ key, hue, trips: trips + 1, ...where }, desktop)
  }

  /** What the next window has to know. @param {string} edge */
  leaving (edge) {
    const { clientWidth: width, clientHeight: height } = this.desktop
    const { key, hue, trips } = this
    const at = edge === 'left' || edge === 'right' ? this.y / height : this.x / width
    return { key, hue, trips, at: round(Math.min(0.95, Math.max(0.05, at))), vx: round(this.vx), vy: round(this.vy) }
  }

  /** Moves it on. @param {number} seconds @returns {string | null} the edge over which it has left */
  move (seconds) {
    if (this.isHeld) return null
    const glide = Math.exp(-FRICTION * seconds)
    this.x += this.vx * seconds
    this.y += this.vy * seconds
    this.vx *= glide
    this.vy *= glide
    this.show()
    const { clientWidth: width, clientHeight: height } = this.desktop
    if (this.x < -RADIUS && this.vx <= 0) return 'left'
    if (this.x > width + RADIUS && this.vx >= 0) return 'right'
    if (this.y < -RADIUS && this.vy <= 0) return 'up'
    if (this.y > height + RADIUS && this.vy >= 0) return 'down'
    return null
  }

  show () {
    const speed = Math.hypot(this.vx, this.vy)
    const stretch = 1 + Math.min(0.22, speed / 6000)
    const angle = Math.atan2(this.vy, this.vx)
    this.element.style.transform = `translate(${this.x}px, ${this.y}px) rotate(${angle}rad) scale(${stretch}, ${1 / stretch}) rotate(${-angle}rad)`
    const look = Math.min(5, speed / 60)
    this.eyes.setAttribute('transform', `translate(${look * Math.cos(angle)} ${look * Math.sin(angle)})`)
  }

  remove () {
    this.element.remove()
  }

  /** In px/s. */
  #fastest () {
    return FRICTION * REACH * Math.max(this.desktop.clientWidth, this.desktop.clientHeight)
  }

  #listen () {
    /** The pointer of late. @type {{ t: number, x: number, y: number }[]} */
    let path = []
    const follow = event => {
      this.x = event.clientX
      this.y = event.clientY
      path = [...path.filter(({ t }) => event.timeStamp - t <= FLICK_MS), {
        t: event.timeStamp, x: event.clientX, y: event.clientY
      }]
      this.show()
    }
    this.element.addEventListener('pointerdown', event => {
      this.element.setPointerCapture(event.pointerId)
      this.isHeld = true
      this.vx = this.vy = 0
      path = []
      follow(event)
      this.element.classList.add('held')
    })
    this.element.addEventListener('pointermove', event => { if (this.isHeld) follow(event) })
    for (const end of ['pointerup', 'pointercancel']) {
      this.element.addEventListener(end, event => {
        if (!this.isHeld) return
        if (end === 'pointerup') follow(event) // where it is let go, which may be outside of the window
        this.isHeld = false
        this.element.classList.remove('held')
        const [first] = path.filter(({ t }) => event.timeStamp - t <= FLICK_MS)
        const seconds = first ? (event.timeStamp - first.t) / 1000 : 0
        if (seconds <= 0) return
        const [vx, vy] = [(this.x - first.x) / seconds, (this.y - first.y) / seconds]
        const share = Math.min(1, this.#fastest() / Math.hypot(vx, vy))
        this.vx = vx * share
        this.vy = vy * share
      })
    }
    this.element.addEventListener('keydown', ({ key }) => {
      const direction = DIRECTIONS[key]
      if (direction) [this.vx, this.vy] = direction.map(sign => sign * this.#fastest())
    })
  }
}

/** @param {number} value */
function round (value) {
  return Math.round(value * 1000) / 1000
}

/** @param {number} hue */
function draw (hue) {
  const svg = element('svg', { viewBox: '-32 -32 64 64' })
  const id = `skin-${Math.random().toString(36).slice(2)}`
  const skin = element('radialGradient', { id, cx: '38%', cy: '28%', r: '80%' })
  skin.append(element('stop', { offset: 0, 'stop-color': `hsl(${hue} 95% 78%)` }), element('stop', { offset: 1, 'stop-color': `hsl(${hue} 75% 48%)` }))
  const body = element('g', { class: 'body' })
  const eyes = element('g', {})
  for (const x of [-9.5, 9.5]) {
    body.append(element('circle', { cx: x, cy: -4, r: 7.5, fill: '#fff' }))
    eyes.append(element('circle', { cx: x, cy: -4, r: 3.6, fill: '#1c1b22' }), element('circle', { cx: x + 1.2, cy: -5.3, r: 1.1, fill: '#fff' }))
  }
  body.prepend(element('path', { d: 'M0-28C18-28 28-16 28 2 28 20 16 28 0 28S-28 20-28 2C-28-16-18-28 0-28Z', fill: `url(#${id})` }))
  body.append(eyes, element('path', { d: 'M-7 10Q0 17 7 10', fill: 'none', stroke: '#1c1b22', 'stroke-width': 2.6, 'stroke-linecap': 'round' }))
  svg.append(skin, body)
  return { svg, eyes }
}

/** @param {string} name @param {Record<string, unknown>} attributes */
function element (name, attributes) {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  return element
}
