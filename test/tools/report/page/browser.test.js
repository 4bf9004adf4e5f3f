'use strict'

const path = require('node:path')
const { pathToFileURL } = require('node:url')
const t = require('tap')
const { Figures } = require('../../../../lib/tools/report/figures')
const { renderPage } = require('../../../../lib/tools/report/page')
const { lacking, startBrowser } = require('../../../support/browser')
const { leaking } = require('../../../support/leaking')
const { ACCOUNT, fleetStart, spawn, sample, recycle, cut, clientStart, clientEnd, drop, tick, line } = require('../written')

function run () {
  const lines = [fleetStart(), spawn(0, 0, 100), spawn(0, 1, 200), clientStart()]
  for (let ms = 0; ms < 10_000; ms += 100) {
    const pid = ms < 5000 ? 100 : 101
    lines.push(sample(ms, 0, pid, 50e6 + ms % 5000 * 8000), sample(ms, 1, 200, 60e6))
  }
  for (let ms = 0; ms < 10_000; ms += 250) lines.push(tick(ms, [[1 + ms / 5000, 90], [4, 10]]))
  return [
    ...lines,
    ...recycle(5000, { cut: 1, cuts: [cut(5000)] }),
    ...recycle(8000, { slot: 1, oldPid: 200, pid: 201, rssBefore: 200 * 1024 ** 2 }),
    drop(5140, { localPort: 5000, path: '/cart' }),
    line(7000, 'worker.crash', { slot: 1, pid: 300, code: 1, signal: null, inFlight: 2 }),
    clientEnd(10_000, 4000, 1)
  ]
}

/** A tab, and what has been seen in it. @param {any} browser @param {Record<string, any>} [how] */
async function tab (browser, how = {}) {
  const page = await (await browser.newContext(how)).newPage()
  const seen = { requests: [], errors: [], dialogs: 0 }
  page.on('request', request => seen.requests.push(request.url()))
  page.on('pageerror', error => seen.errors.push(error.message))
  page.on('console', message => { if (message.type() === 'error') seen.errors.push(message.text()) })
  page.on('dialog', dialog => {
    seen.dialogs++
    dialog.dismiss()
  })
  return { page, seen }
}

function pageOf (lines) {
  const figures = new Figures()
  for (const one of lines) figures.add(one)
  return renderPage({ ...figures.summary(), skippedLines: 0 }, figures.series())
}

t.test('the page in a browser', { skip: lacking }, async t => {
  const browser = await startBrowser(t)

  const desk = await tab(browser, { locale: 'en-US@posix' }) // the language of some under LANG=C

  /**
   * Opens the report as a file, as a reader would: one after the other in one tab, as a tab of its own for each takes
   * more CPU than the test.
   */
  async function open (t, html, { viewport = { width: 1200, height: 900 }, colorScheme = 'light', in: { page, seen } = desk } = {}) {
    const file = path.join(t.testdir({ 'report.html': html }), 'report.html')
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, media: null })
    await page.mouse.move(0, 0)
    await page.goto('about:blank')
    Object.assign(seen, { requests: [], errors: [], dialogs: 0 })
    await page.goto(pathToFileURL(file).href)
    await page.waitForSelector('h1')
    await page.waitForFunction(() => globalThis.document.querySelectorAll('.plot').length === globalThis.document.querySelectorAll('.plot canvas').length)
    return { page, seen, file }
  }

  /** How many different colours each plot shows. */
  const colours = page => page.$$eval('canvas', canvases => canvases.map(canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    return new Set(new Uint32Array(data.buffer)).size
  }))

  await t.test('draws every plot, also where the language of the browser is none, sends no request and keeps to its own content policy', async t => {
    const { page, seen } = await open(t, pageOf(run()))
    const drawn = await colours(page)
    t.equal(drawn.length, 4, 'throughput, latency and two slots')
    t.ok(drawn.every(count => count > 20), `none is blank: ${drawn}`)
    t.equal(seen.requests.length, 1, 'the page itself')
    t.same(seen.errors, [])
    t.equal(await page.textContent('h1'), '1 dropped of 4,000 requests over 2 recycles; the supervisor cut 1; 1 crash with 2 requests in flight')
    t.match(await page.title(), /^1 dropped of 4,000/)
  })

  await t.test('the pointer shows the values of all plots at one time', async t => {
    const { page } = await open(t, pageOf(run()))
    t.equal(await page.textContent('.key.memory b'), '', 'the pointer is on nothing')
    const plot = await page.locator('.u-over').first().boundingBox()
    await page.mouse.move(plot.x + plot.width * 0.4, plot.y + plot.height / 2)
    await page.waitForFunction(() => globalThis.document.querySelector('.key.memory b').textContent !== '')
    t.equal(await page.textContent('.key.rate b'), '400')
    t.match(await page.textContent('.key.p50 b'), /^1\.\d+ ms$/)
    t.equal(await page.textContent('.key.p99 b'), '4 ms')
    t.match(await page.locator('.key.memory b').allTextContents(), [/^7\d MiB$/, '57 MiB'])
    t.match(await page.textContent('.key.budget b'), '100 MiB')
  })

  await t.test('marks have a text, for the pointer and for screen readers', async t => {
    const { page } = await open(t, pageOf(run()))
    await page.locator('.strip[aria-label=Throughput] .mark.drop').hover()
    t.match(await page.textContent('.tip'), /^Dropped: reset.*GET \/cart.*recycle #1, drain.*port$/)
    const marks = page.locator('.strip[aria-label="Slot 1"] .mark')
    t.equal(await marks.count(), 2)
    t.match(await marks.nth(0).getAttribute('aria-label'), /^Crash, .*pid 300, how exit code 1/)
    t.match(await marks.nth(1).getAttribute('aria-label'), /^Recycle #2, .*reason rss, memory 200 MiB → 50 MiB/)
    await marks.nth(1).focus()
    t.match(await page.textContent('.tip'), /Recycle #2/)
  })

  await t.test('stops are no recycles: a table, a mark and a number of their own; equal drops are one row, with a hint', async t => {
    const account = {
      ...ACCOUNT, connections: 3, moved: 0, cut: 3, cuts: [cut(1, { ageMs: 370 }), cut(2), cut(3)], drainMs: 105
    }
    const { page, seen } = await open(t, pageOf([
      ...run(), line(9000, 'worker.drain', { slot: 0, pid: 101, reason: 'stop', connections: 3, inFlight: 3 }),
      line(9110, 'stopped', { slot: 0, pid: 1, oldPid: 101, reason: 'stop', ...account }),
      line(9300, 'stopped', { slot: 1, pid: 1, oldPid: 201, reason: 'stop', ...ACCOUNT, drainMs: 20 }),
      ...[1, 2, 3].map(port => drop(9106 + port, { localPort: port }))
    ]))
    const rows = title => page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) }).locator('tbody tr')
    t.match(await rows('Recycles').allTextContents(), { length: 2 })
    t.match(await rows('Left without a replacement').allTextContents(), [/^3\+9\.0 s0101stop/, /^4\+9\.3 s1201stop/])
    const dropped = page.locator('section', { has: page.getByRole('heading', { name: 'Dropped requests', exact: true }) })
    t.match((await dropped.locator('tbody tr').allTextContents()).sort(), [/^1\+5\.1 s.*recycle #1/, /^3\+9\.1 s.*stop #3/])
    t.match(await dropped.locator('.hint').first().textContent(), /^The supervisor cut 4 requests that had run for up to 370 ms, in drains of at most 105 ms: a --drain-timeout longer/)
    t.equal(await page.locator('.strip[aria-label="Slot 1"] .mark.stop').getAttribute('data-number'), '4')
    t.equal(await page.locator('.strip[aria-label="Slot 1"] .mark.recycle').getAttribute('data-number'), '2')
    t.equal(await page.locator('.hint.sideways:not([hidden])').count(), 0, 'every table fits')
    await page.setViewportSize({ width: 390, height: 844 })
    await page.waitForSelector('.hint.sideways:not([hidden])')
    t.same(seen.errors, [])
  })

  await t.test('dragging zooms all plots, a double click shows everything again', async t => {
    const { page } = await open(t, pageOf(run()))
    const marks = () => page.locator('.strip[aria-label="Slot 1"] .mark').count()
    const plot = await page.locator('.u-over').first().boundingBox()
    await page.mouse.move(plot.x + 10, plot.y + 40)
    await page.mouse.down()
    await page.mouse.move(plot.x + plot.width * 0.3, plot.y + 40, { steps: 4 })
    await page.mouse.up()
    await page.waitForFunction(() => globalThis.document.querySelectorAll('.strip[aria-label="Slot 1"] .mark').length === 0)
    await page.mouse.dblclick(plot.x + 50, plot.y + 40)
    await page.waitForFunction(() => globalThis.document.querySelectorAll('.strip[aria-label="Slot 1"] .mark').length === 2)
    t.equal(await marks(), 2)
  })

  await t.test('the table of recycles sorts by the chosen column', async t => {
    const { page } = await open(t, pageOf(run()))
    const table = page.locator('table', { hasText: 'Old → new pid' })
    const ids = () => table.locator('tbody tr td:first-child').allTextContents()
    t.same(await ids(), ['1', '2'])
    const rss = table.getByRole('button', { name: 'RSS' })
    await rss.click()
    t.same(await ids(), ['1', '2'])
    await rss.click()
    t.same(await ids(), ['2', '1'], 'the largest first')
    t.equal(await table.getByRole('columnheader', { name: 'RSS' }).getAttribute('aria-sort'), 'descending')
  })

  await t.test('it shows which routes leak, and the heap snapshots', async t => {
    const memory = leaking({ seed: 4, kept: { 3: 50e3 } }).map(({ upMs, pid, ...point }) => line(upMs, 'worker.memory', { slot: 0, pid, upMs, ...point }))
    const dump = line(7500, 'heapdump', { slot: 0, pid: 100, reason: 'rss', file: '/var/<b>x</b>.heapsnapshot', bytes: 5 * 1024 ** 2, moved: 3, pauseMs: 70 })
    const { page, seen } = await open(t, pageOf([...run(), ...memory, dump]))
    const section = page.locator('section', { has: page.getByText('Memory by route', { exact: true }) })
    t.match(await section.locator('.hint').first().textContent(), /^GET \/d keeps about \d+(\.\d)? KiB of each request\.$/)
    const rows = section.locator('tbody tr')
    t.equal(await rows.count(), 10)
    t.match(await rows.first().textContent(), /^GET \/d.*leaks$/)
    t.equal(await section.locator('tr.bad').count(), 1)
    t.match(await rows.nth(1).textContent(), /not enough evidence$/)
    t.match(await page.locator('section', { hasText: 'Heap snapshots' }).locator('tbody').textContent(), /100rss5\.0 MiB70 ms\/var\/<b>x<\/b>\.heapsnapshot/)
    t.same(seen.errors, [])
  })

  await t.test('it follows the colour scheme, and is light on paper', async t => {
    const { page } = await open(t, pageOf(run()), { colorScheme: 'dark' })
    const background = () => page.evaluate(() => globalThis.getComputedStyle(globalThis.document.body).backgroundColor)
    t.equal(await background(), 'rgb(17, 19, 22)')
    await page.emulateMedia({ colorScheme: 'light' })
    t.equal(await background(), 'rgb(247, 247, 245)')
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    t.equal(await background(), 'rgb(255, 255, 255)')
    t.ok((await page.pdf({ format: 'A4' })).length > 10_000)
  })

  await t.test('it is readable on a phone: nothing but a wide table scrolls sideways', async t => {
    const { page } = await open(
      t, pageOf(run()), { viewport: { width: 390, height: 844 }, in: await tab(browser, { hasTouch: true }) }
    )
    t.equal(await page.evaluate(() => globalThis.document.documentElement.scrollWidth), 390)
    t.ok((await colours(page)).every(count => count > 20))
    await page.locator('.mark.drop').first().tap()
    const tip = await page.locator('.tip').boundingBox()
    t.ok(tip.x >= 0 && tip.x + tip.width <= 390, 'the text of a mark is on the screen')
  })

  await t.test('markup in a journal is shown as text, and is not run', async t => {
    const evil = '</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028<!--'
    const lines = JSON.parse(JSON.stringify(run()), (key, value) =>
      ['app', 'path', 'method', 'error', 'reason', 'node', 'signal', 'url'].includes(key) ? evil : value)
    lines.push(line(9000, 'worker.crash', { slot: 0, pid: 5, signal: evil, inFlight: 1 }))
    const { page, seen } = await open(t, pageOf(lines))
    for (const mark of await page.locator('.mark').all()) await mark.hover()
    t.equal(seen.dialogs, 0)
    t.same(seen.requests.length, 1)
    t.same(seen.errors, [])
    t.equal(await page.locator('img').count(), 0)
    t.equal(await page.locator('script').count(), 2, 'the data and the page')
    t.match(await page.textContent('.about code'), '</script><script>alert(1)')
  })

  await t.test('connections that ended with a worker, and are unaccounted for, are shown apart from cut ones', async t => {
    const lost = recycle(5000, { connections: 2, moved: 0, cut: 0, unaccounted: 2, lost: true })
    const crash = line(7000, 'worker.crash', { slot: 0, pid: 300, code: 1, signal: null, connections: 3, inFlight: 0 })
    const { page, seen } = await open(
      t, pageOf([fleetStart(), spawn(0, 0, 100), sample(10, 0, 100, 50e6), sample(9000, 0, 101, 50e6), ...lost, crash])
    )
    t.match(await page.textContent('h1'), '0 cut over 1 recycle; 1 crash with 3 connections, 0 requests in flight; 2 connections unaccounted for: their requests are not known')
    t.equal(await page.locator('.verdict.bad').count(), 1)
    t.match(await page.locator('.tile', { hasText: 'Unaccounted' }).textContent(), 'Unaccounted2')
    t.match(await page.locator('.tile', { hasText: 'Crashes' }).textContent(), '3 connections, 0 requests in flight')
    t.equal(await page.locator('table', { hasText: 'Old → new pid' }).locator('tbody tr td').nth(10).textContent(), '0–2')
    t.equal(await page.locator('.mark.cut').count(), 1)
    t.match(await page.locator('.mark.crash').getAttribute('aria-label'), 'connections 3')
    t.same(seen.errors, [])
  })

  await t.test('its content policy stops an injected script', async t => {
    const { page, seen } = await open(t, pageOf(run()).replace('</body>', '<script>globalThis.ran = true</script><img src=x onerror="globalThis.ran = true"></body>'))
    t.equal(await page.evaluate(() => globalThis.ran), undefined)
    t.match(seen.errors.join(), /Content Security Policy/)
  })

  await t.test('without a client it has no traffic to show, and a journal of one line no plot', async t => {
    const { page } = await open(t, pageOf(run().filter(one => !one.event.startsWith('client.'))))
    t.match(await page.textContent('h1'), /^1 cut over 2 recycles/)
    t.equal(await page.locator('canvas').count(), 2)
    const bare = await open(t, pageOf([fleetStart()]))
    t.equal(await bare.page.textContent('h1'), '0 cut over 0 recycles')
    t.same(bare.seen.errors, [])
  })

  await t.test('many slots and a long time fit on a page', async t => {
    const lines = [fleetStart()]
    for (let slot = 0; slot < 40; slot++) {
      lines.push(spawn(0, slot, slot))
      for (let hour = 0; hour < 72; hour++) lines.push(sample(hour * 3_600_000, slot, slot, 50e6 + hour * 1e6))
    }
    const { page, seen } = await open(t, pageOf(lines))
    t.equal(await page.locator('canvas').count(), 12)
    await page.getByRole('button', { name: 'Show 28 more slots' }).click()
    await page.waitForFunction(() => globalThis.document.querySelectorAll('canvas').length === 40)
    t.same(seen.errors, [])
  })
})
