'use strict'

const { pathToFileURL } = require('node:url')
const path = require('node:path')
const t = require('tap')
const esbuild = require('esbuild')
const { SourceMaps, resolveSource } = require('../../../lib/features/leak-line/worker')

const SOURCE = `interface Item {
  id: number
}

export const items: Item[] = []

export function remember (id: number): void {
  items.push({ id })
}
`

/** @param {Partial<import('esbuild').TransformOptions>} [how] */
function compile (how = {}) {
  const { code, map } = esbuild.transformSync(SOURCE, { loader: 'ts', format: 'cjs', sourcefile: 'cart.ts', sourcemap: 'external', keepNames: true, ...how })
  const lines = code.split('\n')
  const line = lines.findIndex(text => text.includes('function remember'))
  return { code, map, line, column: lines[line].indexOf('(', lines[line].indexOf('remember')) }
}

t.test('inline, as tsx has it, and in a file beside the script', async t => {
  const { map, line, column } = compile()
  const folder = t.testdir({ 'cart.js.map': map })
  const file = path.join(folder, 'cart.js')
  const expected = { file: path.join(folder, 'cart.ts'), line: 6 }
  const base64 = `data:application/json;base64,${Buffer.from(map).toString('base64')}`
  for (const url of [base64, `data:application/json;charset=utf-8;base64,${base64.split(',')[1]}`, `data:application/json,${encodeURIComponent(map)}`, 'cart.js.map', pathToFileURL(`${file}.map`).href]) {
    t.match(new SourceMaps(() => url).find({ scriptId: '1', file, line, column }), expected, url.slice(0, 40))
  }
})

t.test('what a compiler has added is generated', async t => {
  const { code, map } = compile()
  const line = code.split('\n').findIndex(text => text.includes('var __name ='))
  t.ok(line >= 0)
  t.equal(new SourceMaps(() => `data:application/json,${encodeURIComponent(map)}`).find({ scriptId: '1', file: '/srv/cart.js', line, column: 20 }), 'generated')
})

t.test('no map, one that is gone, and one that is none: the place is as V8 has it', async t => {
  for (const url of ['', 'gone.map', 'data:application/json;base64,bm8=', 'http://127.0.0.1/x.map']) {
    t.equal(new SourceMaps(() => url).find({ scriptId: '1', file: '/srv/cart.js', line: 0, column: 0 }), null, url)
  }
})

t.test('each script is read once', async t => {
  let calls = 0
  const maps = new SourceMaps(() => { calls++; return '' })
  for (let i = 0; i < 3; i++) maps.find({ scriptId: '1', file: '/srv/cart.js', line: 0, column: i })
  t.equal(calls, 1)
})

t.test('sources: relative, absolute, as urls, and as webpack has them', async t => {
  t.equal(resolveSource('../src/cart.ts', '/srv/dist/cart.js'), '/srv/src/cart.ts')
  t.equal(resolveSource('/srv/src/cart.ts', '/srv/dist/cart.js'), '/srv/src/cart.ts')
  t.equal(resolveSource('file:///srv/src/cart.ts', '/srv/dist/cart.js'), '/srv/src/cart.ts')
  t.equal(resolveSource('webpack://shop/./src/cart.ts', '/srv/dist/cart.js'), '/shop/src/cart.ts')
})
