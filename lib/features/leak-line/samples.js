'use strict'

/** @import { Frame } from './frames' */

/**
 * Allocations that are alive by V8's sampling heap profiler, in a form that is kept from one reading to the next: for
 * each sample its number, by the time of its allocation, its weight, and its stack, as a node of a tree that all
 * readings share. The numbers are in typed arrays, which are not among what is measured.
 *
 * @typedef {{ scriptId: string, url: string, functionName: string, lineNumber: number, columnNumber: number }}
 *   CallFrame of V8; line and column from 0
 * @typedef {{ callFrame: CallFrame, id: number, selfSize: number, children: ProfileNode[] }} ProfileNode
 * @typedef {{ head: ProfileNode, samples: { nodeId: number, size: number, ordinal: number }[] }} Profile of
 *   HeapProfiler.getSamplingProfile
 * @typedef {{ ordinals: Float64Array, sizes: Float64Array, stacks: Int32Array }} Reading sorted by the ordinals
 */

class Stacks {
  /** @type {Frame[]} */
  frames = []
  /** Of each node the one that it is called by; -1: none. @type {number[]} */
  parents = []
  /** Of each node the number of its frame. @type {number[]} */
  #frameOf = []
  /** @type {Map<string, number>} */
  #nodes = new Map()
  /** @type {Map<string, number>} */
  #known = new Map()

  /** @param {(frame: CallFrame) => Frame} resolve called once for each function */
  constructor (resolve) {
    this.resolve = resolve
  }

  /** @param {number} parent @param {CallFrame} callFrame @returns {number} the node */
  add (parent, callFrame) {
    const { scriptId, functionName, lineNumber, columnNumber } = callFrame
    const name = `${scriptId}:${lineNumber}:${columnNumber}:${functionName}`
    let frame = this.#known.get(name)
    if (frame === undefined) {
      frame = this.frames.push(this.resolve(callFrame)) - 1
      this.#known.set(name, frame)
    }
    const key = `${parent}>${frame}`
    const found = this.#nodes.get(key)
    if (found !== undefined) return found
    const node = this.parents.push(parent) - 1
    this.#frameOf.push(frame)
    this.#nodes.set(key, node)
    return node
  }

  /** @param {number} node @returns {Frame} */
  frameOf (node) {
    return this.frames[this.#frameOf[node]]
  }

  /** @param {number} node -1: none @returns {number[]} nodes from the outermost inwards */
  pathOf (node) {
    const path = []
    for (let at = node; at !== -1; at = this.parents[at]) path.push(at)
    return path.reverse()
  }
}

/** @param {Profile} profile @param {Stacks} stacks @returns {Reading} */
function readProfile ({ head, samples }, stacks) {
  /** @type {Map<number, number>} */
  const nodes = new Map()
  const pending = head.children.map(node => ({ node, parent: -1 }))
  nodes.set(head.id, -1)
  for (let next = pending.pop(); next; next = pending.pop()) { // a stack may be deeper than this one
    const at = stacks.add(next.parent, next.node.callFrame)
    nodes.set(next.node.id, at)
    for (const node of next.node.children) pending.push({ node, parent: at })
  }
  const sorted = samples.toSorted((a, b) => a.ordinal - b.ordinal)
  return {
    ordinals: Float64Array.from(sorted, ({ ordinal }) => ordinal),
    sizes: Float64Array.from(sorted, ({ size }) => size),
    stacks: Int32Array.from(sorted, ({ nodeId }) => nodes.get(nodeId) ?? -1)
  }
}

/** @param {Reading} reading @returns {number} bytes of its arrays */
const bytesOf = ({ ordinals, sizes, stacks }) => ordinals.byteLength + sizes.byteLength + stacks.byteLength

module.exports = { Stacks, readProfile, bytesOf }
