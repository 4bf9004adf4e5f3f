'use strict'

/** The browser in which pages are tested: Chromium, of the system. */

const { chromium } = require('playwright-core')
const { lacking, pathOf } = require('./program')

const ARGS = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

/** @param {any} t tap's: the browser ends with it */
async function startBrowser (t) {
  const browser = await chromium.launch({ executablePath: pathOf('chromium'), args: ARGS })
  t.teardown(() => browser.close())
  return browser
}

module.exports = { startBrowser, lacking: lacking('chromium') }
