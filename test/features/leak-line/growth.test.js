'use strict'

const t = require('tap')
const { compare, growthOf, middleOf } = require('../../../lib/features/leak-line/growth')
const { bytesOf, readProfile, Stacks } = require('../../../lib/features/leak-line/samples')

const HOW = { intervalBytes: 1000 }

/** @param {string} functionName @param {string} url @param {number} line from 0 */
const frame = (functionName, url, line) => ({ functionName, url, scriptId: url, lineNumber: line, columnNumber: 4 })
const APP = frame('handle', '/app.js', 9)
const CACHE = frame('remember', '/app.js', 3)
const PARSE = frame('parse', '/node_modules/p/index.js', 0)
const CHURN = frame('render', '/app.js', 20)

/**
 * A stack for each list of frames, with samples as [ordinal, size].
 *
 * @param {[import('../../../lib/features/leak-line/samples').CallFrame[], [number, number][]][]} stacks
 */
function profile (stacks) {
  let lastId = 1
  /** @type {any} */
  const head = { callFrame: frame('(root)', '', -1), id: 1, selfSize: 0, children: [] }
  /** @type {any[]} */
  const samples = []
  for (const [frames, list] of stacks) {
    let node = head
    for (const callFrame of frames) {
      let child = node.children.find((/** @type {any} */ one) => one.callFrame === callFrame)
      if (!child) node.children.push(child = { callFrame, id: ++lastId, selfSize: 0, children: [] })
      node = child
    }
    for (const [ordinal, size] of list) samples.push({ nodeId: node.id, size, ordinal })
  }
  return { head, samples: samples.reverse() }
}

function open () {
  return new Stacks(({ functionName: name, url: file, lineNumber }) => ({ name, file, line: lineNumber + 1, column: 5, kind: file.includes('node_modules') ? 'package' : 'app' }))
}

/** @param {number} from @param {number} to @returns {[number, number][]} */
const each = (from, to) => Array.from({ length: to - from }, (_, i) => [from + i, 1000])

t.test('readings: sorted by ordinal, with stacks that all readings share', async t => {
  const stacks = open()
  const one = readProfile(profile([[[APP, CACHE], [[7, 10], [3, 20]]], [[APP], [[5, 30]]]]), stacks)
  t.same([...one.ordinals], [3, 5, 7])
  t.same([...one.sizes], [20, 30, 10])
  const two = readProfile(profile([[[APP], [[5, 30]]], [[APP, CACHE], [[3, 20]]]]), stacks)
  t.same([two.stacks[0], two.stacks[1]], [one.stacks[0], one.stacks[1]])
  t.same(stacks.pathOf(one.stacks[0]).map(at => stacks.frameOf(at).name), ['handle', 'remember'])
  t.equal(bytesOf(two), 2 * (8 + 8 + 4))
})

t.test('a sample of no stack, and an empty profile', async t => {
  const stacks = open()
  const reading = readProfile(profile([[[], [[1, 5]]]]), stacks)
  t.same([...reading.stacks], [-1])
  t.match(growthOf([readProfile(profile([]), stacks), reading], [0, 500], stacks, HOW), { rows: [], tree: [] })
})

t.test('what has come and gone between two readings', async t => {
  const stacks = open()
  const before = readProfile(profile([[[APP], each(0, 5)]]), stacks)
  const after = readProfile(profile([[[APP], each(3, 9)]]), stacks)
  const [change] = compare(before, after, 1000).values()
  t.match(change, { came: { sum: 4000, count: 4 }, gone: { sum: 3000, count: 3 } })
})

t.test('the growth is named, the churn is not, and packages count for their caller', async t => {
  const stacks = open()
  const readings = [
    profile([[[APP, CHURN], each(0, 20)], [[APP, CACHE, PARSE], each(20, 25)]]),
    profile([[[APP, CHURN], each(30, 50)], [[APP, CACHE, PARSE], [...each(20, 25), ...each(60, 80)]]]),
    profile([[
      [APP, CHURN], each(90, 110)
    ], [[APP, CACHE, PARSE], [...each(20, 25), ...each(60, 80), ...each(120, 140)]], [[APP], each(140, 150)]])
  ].map(one => readProfile(one, stacks))
  const requests = [0, 100, 200]
  const { total, halves, rows, tree } = growthOf(readings, requests, stacks, HOW)
  t.match(total, { bytes: 50_000 })
  t.same(halves.map(({ bytes }) => bytes), [20_000, 30_000])
  t.match(rows, [
    { at: { name: 'remember', line: 4 }, callers: [{ name: 'handle' }], by: { name: 'parse' }, bytes: 40_000, halves: [{ bytes: 20_000 }, { bytes: 20_000 }] },
    { at: { name: 'handle' }, bytes: 10_000, halves: [{ bytes: 0 }, { bytes: 10_000 }] }
  ])
  t.equal(rows.length, 2)
  t.match(tree, [{ name: 'handle', bytes: 10_000, children: [{ name: 'remember', bytes: 0, children: [{ name: 'parse', bytes: 40_000, children: [] }] }] }])
  t.match(growthOf(readings, requests, stacks, { ...HOW, isWhole: true }).rows, [{ at: { name: 'parse' }, callers: [{ name: 'remember' }, { name: 'handle' }] }, { at: { name: 'handle' } }])
  t.match(growthOf(readings, requests, stacks, { ...HOW, isIgnored: ({ name }) => name === 'remember' }), { total: { bytes: 10_000 }, rows: [{ at: { name: 'handle' } }] })
})

t.test('the reading in between that divides the requests most evenly', async t => {
  t.equal(middleOf([0, 100, 200]), 1)
  t.equal(middleOf([0, 10, 130, 200]), 2)
  t.equal(middleOf([0, 190, 200]), null, 'hardly any after it')
  t.equal(middleOf([0, 200]), null)
  t.equal(middleOf([0]), null)
})

t.test('two readings have no halves; a stack of 50,000 frames is read', async t => {
  const stacks = open()
  const deep = Array.from({ length: 50_000 }, () => CHURN)
  const readings = [profile([]), profile([[deep, each(0, 5)]])].map(one => readProfile(one, stacks))
  const { halves, rows } = growthOf(readings, [0, 100], stacks, HOW)
  t.same(halves, [])
  t.match(rows, [{ at: { name: 'render' }, bytes: 5000, halves: [] }])
})
