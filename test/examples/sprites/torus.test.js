'use strict'

const t = require('tap')
const fc = require('fast-check')
const { Torus, Node, MOST_TOUCHED } = require('../../../examples/sprites/torus')

const OPPOSITE = /** @type {const} */ ([['left', 'right'], ['right', 'left'], ['up', 'down'], ['down', 'up']])
const MILLION = 1_000_000

class Numbered extends Node {
  seen = 0
}

let walks = 0

/**
 * How many nodes there are to be reached.
 *
 * @param {Numbered} from
 * @returns {number}
 * @throws {Error} two neighbours disagree
 */
function walk (from) {
  const queue = [from]
  from.seen = ++walks
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i]
    for (const [there, back] of OPPOSITE) {
      const neighbour = node[there]
      if (neighbour[back] !== node) throw new Error(`${there} of a node does not have it ${back}`)
      if (neighbour.seen === walks) continue
      neighbour.seen = walks
      queue.push(neighbour)
    }
  }
  return queue.length
}

/** @param {Numbered} from @param {'right' | 'down'} there */
function lengthOfRing (from, there) {
  let length = 1
  for (let node = from[there]; node !== from; node = node[there]) length++
  return length
}

/** @param {Iterable<Numbered>} nodes */
const links = nodes => new Map([...nodes].map(node => [node, OPPOSITE.map(([there]) => node[there])]))

/** Six of ten add a node; the others remove one. */
const changes = fc.array(fc.tuple(fc.nat(9), fc.nat()), { minLength: 1, maxLength: 120, size: 'max' })

/**
 * @param {[number, number][]} steps
 * @param {(torus: Torus<Numbered>, nodes: Numbered[], touched: Set<Numbered>, node: Numbered) => void} check after each
 *   change
 */
function apply (steps, check) {
  const torus = new Torus()
  /** @type {Numbered[]} */
  const nodes = []
  for (const [kind, number] of steps) {
    const isAdded = kind < 6 || nodes.length === 0
    const [node] = isAdded ? [new Numbered()] : nodes.splice(number % nodes.length, 1)
    const touched = isAdded ? torus.add(node) : torus.remove(node)
    if (isAdded) nodes.push(node)
    check(torus, nodes, touched, node)
  }
}

t.test('over any changes, every node is reachable and no two neighbours disagree', async t => {
  fc.assert(fc.property(changes, steps => apply(steps, (torus, nodes) => {
    if (torus.size !== nodes.length) throw new Error('size')
    if (nodes.length > 0 && walk(nodes[0]) !== nodes.length) throw new Error('a node is not reachable')
  })), { numRuns: 200 })
  t.pass()
})

t.test(`a change touches ${MOST_TOUCHED} nodes at the most, and names exactly those whose links it has changed`, async t => {
  let most = 0
  fc.assert(fc.property(changes, steps => {
    let before = links([])
    apply(steps, (_, nodes, touched, node) => {
      const after = links(nodes)
      for (const [node, now] of after) {
        const isOther = !before.has(node) || now.some((neighbour, i) => neighbour !== before.get(node)?.[i])
        if (isOther && !touched.has(node)) throw new Error('a node is touched and not named')
      }
      for (const other of touched) if (!after.has(other)) throw new Error('a node is named that has left')
      if (!nodes.includes(node) && OPPOSITE.some(([there]) => node[there] !== node)) throw new Error('a node that has left has a neighbour')
      most = Math.max(most, touched.size)
      before = after
    })
  }), { numRuns: 200 })
  t.equal(most, MOST_TOUCHED)
})

t.test('it is as square as its size allows: no way around is longer than the side of the square, and one', async t => {
  fc.assert(fc.property(changes, steps => apply(steps, (torus, nodes) => {
    const most = Math.ceil(Math.sqrt(torus.size))
    for (const node of nodes) if (lengthOfRing(node, 'right') > most || lengthOfRing(node, 'down') > most) throw new Error(`a ring is longer than ${most}`)
  })), { numRuns: 50 })
  t.pass()
})

t.test('a million nodes: a change touches no more of them', async t => {
  const torus = new Torus()
  /** @type {Numbered[]} */
  const nodes = []
  let most = 0
  const change = (/** @type {Set<Numbered>} */ touched) => { most = Math.max(most, touched.size) }
  while (nodes.length < MILLION) {
    const node = new Numbered()
    nodes.push(node)
    change(torus.add(node))
  }
  t.equal(most, 5, 'one that comes: itself, and its 4 neighbours')
  for (let i = 0; i < 5000; i++) {
    const index = (i * 7919) % nodes.length
    const node = nodes[index]
    nodes[index] = nodes[nodes.length - 1]
    nodes.pop()
    change(torus.remove(node))
  }
  t.equal(most, MOST_TOUCHED)
  t.equal(walk(nodes[0]), nodes.length, 'every node is reachable')
})
