'use strict'

/** The page of examples/websocket.js in a real browser, whose WebSocket is the browser's own. */

const path = require('node:path')
const t = require('tap')
const { startBrowser, lacking } = require('../support/browser')
const { startFleet } = require('../support/fleet')

t.test('the connection of a page goes from worker to worker, and is never closed', { skip: lacking }, async t => {
  const { port, supervisor } = await startFleet(t, path.join(__dirname, '..', '..', 'examples', 'websocket.js'), { workers: 2 })
  const page = await (await startBrowser(t)).newPage()
  await page.goto(`http://127.0.0.1:${port}/`)
  const read = async (/** @type {string} */ id) => Number(await page.textContent(`#${id}`))
  const counted = (/** @type {number} */ count) => page.waitForFunction(least => Number(document.getElementById('count')?.textContent) >= least, count)
  await counted(3)
  let pid = await read('pid')
  for (let i = 1; i <= 3; i++) {
    await supervisor.reload()
    await page.waitForFunction(before => Number(document.getElementById('pid')?.textContent) !== before, pid)
    pid = await read('pid')
    t.equal(await read('workers'), i + 1)
  }
  await counted(await read('count') + 3)
  t.equal(await read('closed'), 0)
  const log = await page.locator('#log li').allTextContents()
  t.equal(log.length, 4)
  t.match(log.join('\n'), /worker \d+ goes on at message \d+/)
  t.notMatch(log.join('\n'), /out of order|closed/)
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT })
})
