'use strict'

/** The page of `recycle leak --html` in a browser. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { renderPage } = require('../../../../lib/features/leak-line/page')
const { lacking, startBrowser } = require('../../../support/browser')

const place = (/** @type {string} */ name, /** @type {number} */ line) => ({ name, file: '/srv/app.js', line })
const FOUND = { at: place('remember', 4), callers: [place('handle', 9)], by: null, isGrowing: true, isSure: true, share: 0.9, bytes: 9000, bytesPerRequest: 90, low: 80, high: 100, samples: 40, halves: [4500, 4500] }
const branch = (/** @type {string} */ name, /** @type {number} */ bytes, /** @type {any[]} */ children = []) => ({ ...place(name, 4), column: 1, kind: 'app', bytes, children })

t.test('a flame graph, in which a click on a function makes it as wide as the page, and a table', { skip: lacking }, async t => {
  const outcome = { verdict: 'grows', requests: 100, bytes: 10_000, mostPerRequest: 120, outside: null, found: [FOUND, { ...FOUND, isSure: false }] }
  const growth = { total: null, halves: [], rows: [], tree: [branch('<b>handle</b>', 0, [branch('remember', 9000), branch('other', 1000)])] }
  const file = path.join(t.testdir(), 'leak.html')
  fs.writeFileSync(file, renderPage({ outcome, growth, why: null, tookMs: 60_000, slot: 1, pid: 7, readings: [] }))
  const page = await (await startBrowser(t)).newPage()
  /** @type {string[]} */
  const errors = []
  page.on('console', (/** @type {any} */ message) => errors.push(message.text()))
  page.on('pageerror', (/** @type {Error} */ error) => errors.push(error.message))
  await page.goto(`file://${file}`)
  t.match(await page.locator('p').first().textContent(), /^Remember \/srv\/app\.js:4 leaks: it keeps 90 B of each request|^Remember /)
  t.equal(await page.locator('.frame').count(), 4)
  t.equal(await page.locator('tr.bad').count(), 1)
  const widthOf = async (/** @type {string} */ text) => (await page.locator('.frame', { hasText: text }).boundingBox()).width
  const [all, remember] = [await widthOf('growth'), await widthOf('remember')]
  t.ok(Math.abs(remember / all - 0.9) < 0.01)
  await page.locator('.frame', { hasText: 'remember' }).click()
  t.ok(Math.abs(await widthOf('remember') / all - 1) < 0.01)
  t.equal(await page.locator('.frame', { hasText: 'other' }).count(), 0)
  await page.locator('.frame', { hasText: 'growth' }).click()
  t.equal(await page.locator('.frame').count(), 4)
  t.equal(await page.locator('b').count(), 0, 'a name is text')
  t.same(errors, [])
})
