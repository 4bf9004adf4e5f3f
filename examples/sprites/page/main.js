// A desktop on the torus: its sprites, and its neighbours at the edges.

import { Connection } from './connection.js'
import { Sprite } from './sprite.js'

/** Each with its hue, in degrees. */
const COLOURS = {
  Crimson: 350,
  Coral: 14,
  Amber: 38,
  Jade: 145,
  Teal: 175,
  Azure: 203,
  Cobalt: 224,
  Indigo: 250,
  Violet: 275,
  Orchid: 300,
  Rose: 328
}
const ANIMALS = ['Badger', 'Crane', 'Dolphin', 'Falcon', 'Fox', 'Gecko', 'Heron', 'Lynx', 'Marten', 'Otter', 'Owl', 'Panda', 'Raven', 'Wombat']
const FIRST_SPRITES = 3
const LONGEST_FRAME_S = 0.1

const $ = id => document.getElementById(id)
const desktop = $('desktop')
const edges = Object.fromEntries([...document.querySelectorAll('.edge')].map(edge => [edge.dataset.edge, edge]))
/** @type {Set<Sprite>} */
const sprites = new Set()
const counts = { thrown: 0, arrived: 0 }

const connection = new Connection(`${pick(Object.keys(COLOURS))} ${pick(ANIMALS)}`, {
  joined (name) {
    $('name').textContent = document.title = name
    document.documentElement.style.setProperty('--hue', String(hueOf(name)))
  },
  neighbours (neighbours) {
    for (const [edge, name] of Object.entries(neighbours)) {
      edges[edge].firstElementChild.textContent = name
      edges[edge].classList.toggle('self', name === connection.name)
      edges[edge].style.setProperty('--of', String(hueOf(name)))
    }
    document.body.classList.toggle('has-neighbour', Object.values(neighbours).some(name => name !== connection.name))
  },
  arrived (arrived) {
    for (const one of arrived) {
      sprites.add(Sprite.entering(one, desktop))
      flash(one.edge)
      counts.arrived++
    }
    count()
  },
  state (state, about = '') {
    const [, slot, pid, moves] = /slot=(.+); pid=(\d+); moves=(\d+)/.exec(about) ?? []
    $('state').dataset.state = state
    if (state === 'lost') $('state').textContent = about
    else $('state').textContent = `last answer: worker ${pid}${slot === '-' ? '' : ` in slot ${slot}`}${moves > 0 ? `, to which the poll had moved ${moves === '1' ? 'once' : `${moves} times`}` : ''}`
  },
  save: () => ({ counts, sprites: [...sprites].map(({ key, hue, x, y, trips }) => ({ key, hue, x, y, trips })) })
})

$('new').addEventListener('click', () => add())

if (connection.restored) {
  Object.assign(counts, connection.restored.counts)
  for (const sprite of connection.restored.sprites) sprites.add(new Sprite(sprite, desktop))
} else for (let i = 0; i < FIRST_SPRITES; i++) add((i + 1) / (FIRST_SPRITES + 1))
count()
connection.run()

let before = performance.now()
requestAnimationFrame(function frame (now) {
  const seconds = Math.min(LONGEST_FRAME_S, (now - before) / 1000)
  before = now
  for (const sprite of sprites) {
    const edge = sprite.move(seconds)
    if (edge) leave(sprite, edge)
  }
  requestAnimationFrame(frame)
})

/** @param {Sprite} sprite @param {string} edge */
function leave (sprite, edge) {
  sprites.delete(sprite)
  sprite.remove()
  counts.thrown++
  connection.throw(edge, sprite.leaving(edge))
  flash(edge)
  count()
}

/** @param {number} [across] where, from 0 to 1 */
function add (across = 0.2 + 0.6 * Math.random()) {
  sprites.add(new Sprite({
    key: Math.random().toString(36).slice(2, 10),
    hue: Math.floor(Math.random() * 360),
    x: desktop.clientWidth * across,
    y: desktop.clientHeight * (0.25 + 0.15 * Math.random()),
    vy: -20 * Math.random()
  }, desktop))
  count()
}

function count () {
  $('here').textContent = String(sprites.size)
  $('thrown').textContent = String(counts.thrown)
  $('arrived').textContent = String(counts.arrived)
}

/** @param {string} edge */
function flash (edge) {
  edges[edge].classList.remove('flash')
  void edges[edge].offsetWidth // so that the animation begins anew
  edges[edge].classList.add('flash')
}

/** @param {string[]} names */
function pick (names) {
  return names[Math.floor(Math.random() * names.length)]
}

/** @param {string} name @returns {number} that of the colour that it begins with, or another of its own */
function hueOf (name) {
  let hash = 7
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) % 360
  return COLOURS[name.split(' ')[0]] ?? hash
}
