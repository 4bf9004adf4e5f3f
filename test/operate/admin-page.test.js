'use strict'

/** The live page of running fleets, in a browser. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { get } = require('../support/client')
const { FIXTURES } = require('../support/fleet')
const { Load } = require('../support/load')
const { startAdmin } = require('../support/admin')
const { lacking, startBrowser } = require('../support/browser')

t.test('the live page', { skip: lacking }, async t => {
  const browser = await startBrowser(t)
  const fleet = await startAdmin(t, 'plain.js', { workers: '2..4', maxRss: '200MiB', memoryByRoute: true })
  const { supervisor } = fleet
  const load = new Load({ port: fleet.port, connections: 4, thinkMs: 400 })
  t.teardown(() => load.stop())

  async function open (t, url, how = {}) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...how })
    t.teardown(() => context.close())
    const page = await context.newPage()
    const seen = { requests: [], errors: [], dialogs: 0 }
    page.on('request', request => seen.requests.push(`${request.method()} ${request.url()}`))
    page.on('pageerror', error => seen.errors.push(error.message))
    page.on('console', message => { if (message.type() === 'error') seen.errors.push(message.text()) })
    page.on('dialog', dialog => {
      seen.dialogs++
      dialog.dismiss()
    })
    await page.goto(url)
    await page.waitForFunction(() => {
      const plots = globalThis.document.querySelectorAll('.plot').length
      return plots > 0 && plots === globalThis.document.querySelectorAll('.plot canvas').length
    })
    return { page, seen }
  }

  /** The number of different colours in each plot. */
  const colours = page => page.$$eval('canvas', canvases => canvases.map(canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Set(new Uint32Array(data.buffer)).size
  }))

  const tile = (page, name) => page.locator('.tile', { has: page.getByText(name, { exact: true }) }).locator('dd').first().textContent()
  /** The table of workers is redrawn after everything else. */
  const news = page => page.evaluate(() => new Promise(resolve => {
    new globalThis.MutationObserver((_, observer) => {
      observer.disconnect()
      resolve(undefined)
    }).observe(globalThis.document.querySelector('.workers tbody'), { subtree: true, childList: true, characterData: true })
  }))
  const until = (page, text, selector) => page.waitForFunction(([text, selector]) =>
    [...globalThis.document.querySelectorAll(selector)].some(element => element.textContent.includes(text)),
  [text, selector])

  await t.test('shows the state and the events of the fleet without a reload', async t => {
    const { page, seen } = await open(t, fleet.url)
    t.equal(await page.textContent('.link'), 'live')
    t.match(await page.textContent('h1'), /^\S+ 2 of 2 workers in service; 0 workers replaced, and no request was lost$/)
    t.equal(await page.locator('.workers tbody tr').count(), 2)
    t.equal(await page.locator('.mark').count(), 0)
    t.match(await page.locator('section', { hasText: 'Memory by route' }).textContent(), /Not enough evidence that a route leaks: /)

    const { oldPid, pid } = await supervisor.recycle(1)
    await until(page, '1 worker replaced', 'h1')
    t.equal(await tile(page, 'Recycles'), '1')
    await page.waitForSelector('.strip[aria-label="Slot 1"] .mark')
    t.equal(await page.locator('.strip[aria-label="Slot 0"] .mark').count(), 0)
    t.match(await page.locator('.strip[aria-label="Slot 1"] .mark').getAttribute('aria-label'), new RegExp(`^Recycle #1, .*${oldPid} → ${pid}, reason requested`))
    t.match(await page.locator('table', { hasText: 'Old → new pid' }).locator('tbody').textContent(), `${oldPid} → ${pid}`)
    t.match(await page.textContent('.workers tbody'), `${pid}ready`)
    t.notMatch(await page.textContent('.workers tbody'), String(oldPid))
    t.match(await page.title(), /^[^:]+: 2 of 2 workers in service – recycle$/)

    await page.waitForSelector('.strip[aria-label^="Response time"] .key.p99')
    t.match(await page.locator('.strip[aria-label="Responses with 5xx"] .key').textContent(), '5xx/s 0')

    t.ok((await colours(page)).every(count => count > 10), 'no plot is blank')
    t.same(new Set(seen.requests), new Set([`GET ${fleet.url}/`, `GET ${fleet.url}/events`]), 'it requests nothing of other servers, and only by GET')
    t.equal(seen.requests.length, 2)
    t.same(seen.errors, [])
    t.equal(await page.locator('form, input, a').count(), 0)
  })

  // One page for the tests that follow: each that opens costs as much as a fleet
  const { page } = await open(t, fleet.url)

  await t.test('a page opened later has the earlier values', async t => {
    t.match(await page.textContent('h1'), '1 worker replaced')
    await page.waitForSelector('.strip[aria-label="Slot 1"] .mark')
  })

  await t.test('values are updated; the pointer shows the values of its time, and the text of a mark', async t => {
    const requests = () => page.locator('.workers tbody tr').first().locator('td').nth(12).textContent()
    const before = await requests()
    await page.waitForFunction(before => globalThis.document.querySelector('.workers tbody tr').children[12].textContent !== before, before)
    // The latest
    await page.waitForFunction(() => /^\d+ MiB$/.test(globalThis.document.querySelector('.strip[aria-label="Slot 0"] .key.memory b').textContent))
    const mark = page.locator('.strip[aria-label="Slot 1"] .mark').first()
    await mark.hover()
    t.match(await page.textContent('.tip'), /^Recycle #1/)
    const left = await mark.evaluate(mark => mark.style.left)
    await news(page)
    await news(page)
    t.equal(await mark.evaluate(mark => mark.style.left), left, 'the plot does not move under the pointer')
    t.equal(await page.locator('.tip').isVisible(), true)
    await page.mouse.move(5, 5)
    await page.waitForFunction(left => globalThis.document.querySelector('.strip[aria-label="Slot 1"] .mark').style.left !== left, left)
    t.equal(await page.locator('.tip').isVisible(), false)
  })

  await t.test('a zoomed plot stays; a double click follows time again', async t => {
    const { page } = await open(t, fleet.url)
    const axis = () => page.evaluate(() => {
      const canvas = globalThis.document.querySelector('.strip[aria-label="Slot 0"] canvas')
      return canvas.toDataURL()
    })
    const plot = await page.locator('.u-over').first().boundingBox()
    await page.mouse.move(plot.x + plot.width * 0.1, plot.y + 40)
    await page.mouse.down()
    await page.mouse.move(plot.x + plot.width * 0.3, plot.y + 40, { steps: 4 })
    await page.mouse.up()
    await page.mouse.move(5, 5)
    const zoomed = await axis()
    await news(page)
    await news(page)
    t.equal(await axis(), zoomed)
    await page.mouse.dblclick(plot.x + 50, plot.y + 40)
    await page.mouse.move(5, 5)
    await page.waitForFunction(zoomed => globalThis.document.querySelector('.strip[aria-label="Slot 0"] canvas').toDataURL() !== zoomed, zoomed)
    const all = await axis()
    await page.waitForFunction(all => globalThis.document.querySelector('.strip[aria-label="Slot 0"] canvas').toDataURL() !== all, all)
  })

  await t.test('it follows the colour scheme', async t => {
    const background = () => page.evaluate(() => globalThis.getComputedStyle(globalThis.document.body).backgroundColor)
    await page.emulateMedia({ colorScheme: 'dark' })
    t.equal(await background(), 'rgb(17, 19, 22)')
    await page.emulateMedia({ colorScheme: 'light' })
    t.equal(await background(), 'rgb(247, 247, 245)')
  })

  await t.test('it is readable on a phone: nothing but a wide table scrolls sideways', async t => {
    const { page, seen } = await open(t, fleet.url, { viewport: { width: 390, height: 844 }, hasTouch: true })
    t.equal(await page.evaluate(() => globalThis.document.documentElement.scrollWidth), 390)
    await page.waitForSelector('.workers .hint.sideways:not([hidden])')
    t.ok((await colours(page)).every(count => count > 10))
    t.same(seen.errors, [])
  })

  await t.test('added and removed slots have their plot', async t => {
    const sizing = () => page.locator('h2', { hasText: 'Workers and load' }).locator('+ p').textContent()
    const figures = () => page.locator('.strip[aria-label="Workers"] .key').allTextContents()
    t.equal(await sizing(), 'Auto: 2 to 4 workers by the load.')
    t.match(await figures(), [/^busy [\d.]+$/, 'ready 2', 'wanted 2', 'min 2', 'max 4'])

    const other = await page.locator('.strip[aria-label="Slot 0"] canvas').elementHandle()
    await supervisor.scale(3)
    await page.waitForSelector('.strip[aria-label="Slot 2"] canvas')
    t.equal(await other.evaluate(canvas => canvas.isConnected), true, 'the other plots are not drawn anew')
    await until(page, 'wanted 3', '.strip[aria-label="Workers"] .key')
    t.match(await sizing(), /^Pinned at 3 workers; by the load it would be 2 to 4\. Last change \d+ s ago: 2 → 3, reason requested\.$/)
    t.equal((await figures())[1], 'ready 3')
    t.equal(await page.locator('.workers tbody tr').count(), 3)
    await supervisor.scale(2)
    await page.waitForFunction(() => globalThis.document.querySelectorAll('.workers tbody tr').length === 2)
    t.equal(await page.locator('.strip[aria-label="Slot 2"] .mark').count(), 1, 'the earlier values are still there')
  })

  await t.test('another page can neither read nor frame it', async t => {
    const other = await startAdmin(t, 'plain.js', { workers: 1 })
    const context = await browser.newContext()
    t.teardown(() => context.close())
    const page = await context.newPage()
    await page.goto(`${other.url}/healthz`)
    const read = path => page.evaluate(url => globalThis.fetch(url).then(() => 'read', () => 'refused'), `${fleet.url}${path}`)
    t.equal(await read('/status'), 'refused')
    t.equal(await read('/metrics'), 'refused')
  })

  await t.test('an app name with markup is shown as text, and is not run; an exception is counted as an error', async t => {
    const name = '<img src=x onerror=alert(1)>.js'
    const app = path.join(t.testdir({ [name]: fs.readFileSync(path.join(FIXTURES, 'plain.js'), 'utf8') }), name)
    const evil = await startAdmin(t, app, { workers: 1 })
    const { page, seen } = await open(t, evil.url)
    t.match(await page.textContent('.about code'), name)
    t.equal(await page.locator('img').count(), 0)
    t.equal(seen.dialogs, 0)
    t.same(seen.errors, [])
    t.match([await tile(page, 'Errors'), await page.locator('.workers th').nth(9).textContent()], ['0', 'Loop delay'])
    t.match(await page.locator('.workers tbody td').nth(9).textContent(), /^[\d.]+ m?s$/)
    t.match(await get(evil.port, '//'), { status: 500 }, 'its URL is none')
    await until(page, '1 exception; 0 answered 502', '.tile')
    t.equal(await tile(page, 'Errors'), '1')
  })

  await t.test('it shows that the fleet has stopped, and keeps its values', async t => {
    await load.stop()
    await supervisor.stop()
    await until(page, 'the fleet has stopped', '.link')
    t.match(await page.textContent('h1'), '1 worker replaced, and no request was lost')
    t.ok(await page.locator('canvas').count() >= 2)
  })
})
