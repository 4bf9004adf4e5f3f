'use strict'

/** Between the kernel and the features: what one declares or calls by its name, the other has. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')

const LIB = path.join(__dirname, '..', '..', 'lib')
const read = (/** @type {string} */ file) => fs.readFileSync(path.join(LIB, file), 'utf8')
const files = fs.readdirSync(LIB, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.js'))
const kernel = files.filter(file => /^(primary|worker)\//.test(file)).map(read).join('\n')
const features = files.filter(file => /^features\/[^/]+\//.test(file)).map(read).join('\n')

/** The names that an interface declares. @param {string} type */
function declared (type) {
  const [, text] = new RegExp(`@typedef \\{object\\} ${type}\\b([^]*?)(?:@typedef|\\*/)`).exec(read('features/interface.js')) ?? []
  return [...String(text).matchAll(/\} \[?(\w+)\]?/g)].map(([, name]) => name)
}

/** A feature may have it: as a method, a field or an arrow. @param {string} name */
const isImplemented = name => new RegExp(`\\b${name}\\b( \\(|:|,| =| \\}|$|\\n)`, 'm').test(features)

for (const type of ['PrimaryPart', 'WorkerPart']) {
  t.test(`each hook of a ${type} is called by the kernel, and some feature has it`, async t => {
    const names = declared(type)
    t.ok(names.length >= 5, `${names}`)
    for (const name of names) {
      const isCalled = new RegExp(`\\b(all|first)\\('${name}'|\\.${name}\\b|\\{[^{}]*\\b${name}\\b[^{}]*\\}\\) =>`).test(kernel)
      t.ok(isCalled, `${name} has a caller`)
      t.ok(isImplemented(name), `${name} is had`)
    }
  })
}
