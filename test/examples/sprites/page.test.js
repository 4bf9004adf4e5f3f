'use strict'

/** The page of the sprites server, in two windows of a browser, while the workers are recycled. */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { startHub } = require('../../../examples/sprites/hub')
const { lacking, startBrowser } = require('../../support/browser')
const { startFleet } = require('../../support/fleet')

const SERVER = path.join(__dirname, '..', '..', '..', 'examples', 'sprites', 'server.js')
const WORKERS = 2

t.test('a sprite is thrown from one window into the other and back, while the workers are recycled', { skip: lacking }, async t => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sprites-'))
  const hub = await startHub(path.join(folder, 'hub'))
  process.env.SPRITES_HUB = path.join(folder, 'hub')
  const { port, supervisor } = await startFleet(t, SERVER, { workers: WORKERS, replayAfter: 0 })
  const browser = await startBrowser(t)
  t.teardown(async () => {
    await hub.close()
    fs.rmSync(folder, { recursive: true })
  })

  /** @type {string[]} */
  const errors = []
  const open = async () => {
    const context = await browser.newContext({ viewport: { width: 800, height: 480 } })
    const page = await context.newPage()
    page.on('pageerror', error => errors.push(error.message))
    page.on('console', message => { if (message.type() === 'error') errors.push(message.text()) })
    page.on('requestfailed', request => errors.push(`${request.method()} ${request.url()} ${request.failure()?.errorText}`))
    await page.goto(`http://127.0.0.1:${port}/`)
    await page.waitForSelector('#state[data-state=live]')
    return page
  }
  const windows = [await open(), await open()]
  const [a, b] = windows
  const [nameA, nameB] = await Promise.all(windows.map(page => page.textContent('h1')))
  /** @type {(page: import('playwright-core').Page, edge: string, name: string | null) => Promise<unknown>} */
  const edge = (page, edge, name) =>
    page.waitForFunction(([edge, name]) => globalThis.document.querySelector(`.edge.${edge}`).textContent.trim() === name, [edge, name])
  await edge(a, 'right', nameB)
  await edge(b, 'left', nameA)
  t.ok(await a.locator('.edge.up.self').count(), 'there is no neighbour above')

  const keys = (/** @type {import('playwright-core').Page} */ page) => page.$$eval('.sprite', sprites => sprites.map(sprite => sprite.dataset.key))
  const before = (await Promise.all(windows.map(keys))).flat().sort()
  t.equal(before.length, 6)
  const [key] = await keys(a)
  const there = (/** @type {import('playwright-core').Page} */ page) => page.waitForSelector(`.sprite[data-key="${key}"]`)

  /** Drags it off an edge, and lets go. @param {import('playwright-core').Page} page @param {number} edge its x */
  const drag = async (page, edge) => {
    const box = await page.locator(`.sprite[data-key="${key}"]`).boundingBox()
    if (!box) throw new Error('the sprite is not there')
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(edge, y, { steps: 3 })
    await page.mouse.up()
  }

  let recycles = 0
  for (const [from, to, edge] of /** @type {const} */ ([[a, b, 860], [b, a, -60], [a, b, -60]])) {
    await Promise.all([supervisor.recycle(recycles++ % WORKERS), drag(from, edge).then(() => there(to))])
    t.equal(await from.locator(`.sprite[data-key="${key}"]`).count(), 0)
    // It has come in and nearly rests: one that flies is not where the pointer goes down
    await to.waitForFunction(key => {
      const sprite = globalThis.document.querySelector(`[data-key="${key}"]`)
      const { left, right } = sprite.getBoundingClientRect()
      const rests = Math.abs(Number(sprite.dataset.left) - left) < 2
      sprite.dataset.left = left
      return rests && left > 0 && right < 800
    }, key, { polling: 100 })
  }
  t.equal(await b.textContent('#arrived'), '2')
  for (let i = 0; i < WORKERS; i++) await supervisor.recycle(i) // both polls move
  await a.locator('.sprite').first().press('ArrowRight')
  await b.waitForFunction(() => globalThis.document.querySelector('#arrived').textContent === '3')
  t.match(await b.textContent('#state'), /last answer: worker \d+ in slot \d, to which the poll had moved (once|\d+ times)/)

  await b.reload()
  await b.waitForSelector('#state[data-state=live]')
  t.equal(await b.textContent('h1'), nameB, 'a reload keeps the desktop')
  t.same((await Promise.all(windows.map(keys))).flat().sort(), before, 'every sprite is in one window')
  t.match(hub.stats(), { desktops: 2, thrown: 4, vanished: 0 })
  t.same(errors.filter(error => !/^GET .*\/poll/.test(error)), [], 'no request has failed, but the poll of the page that was reloaded')
})
