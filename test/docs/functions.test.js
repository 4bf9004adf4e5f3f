'use strict'

/** A function that the documentation places in a file is in that file. */

const t = require('tap')
const { page, pages } = require('../support/docs')

const PLACED = /`(#?)(\w+)\([\w, ]*\)`(?: in | \()`(lib\/[\w/-]+\.js)`/g

t.test('each function is where it is said to be', async t => {
  let count = 0
  for (const { name, text } of pages()) {
    for (const [, hash, called, file] of text.matchAll(PLACED)) {
      count++
      const isThere = new RegExp(`^ *(?:function |(?:get|async) )?${hash}${called} \\(`, 'm').test(page(file).text)
      t.ok(isThere, `${name}: ${hash}${called}() in ${file}`)
    }
  }
  t.ok(count >= 10, `${count} are named`)
})
