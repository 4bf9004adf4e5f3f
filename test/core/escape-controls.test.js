'use strict'

const t = require('tap')
const { escapeControls, escapedJson } = require('../../lib/core/escape-controls')

const OBEYED = [...Array.from({ length: 32 }, (_, code) => code), ...Array.from({ length: 33 }, (_, i) => 0x7f + i),
  0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068,
  0x2069].map(code => String.fromCodePoint(code))

t.test('control characters, and characters that reverse the order of text, are escaped', async t => {
  for (const char of OBEYED) t.equal(escapeControls(`a${char}b`), `a\\u{${char.codePointAt(0)?.toString(16)}}b`)
})

t.test('letters of any script, symbols and emoji are unchanged', async t => {
  const text = 'Größe 漢字 שלום → … █ 🚀 \\x1b'
  t.equal(escapeControls(text), text)
  for (const value of [5, null, undefined]) t.equal(escapeControls(value), String(value))
})

t.test('JSON means the same, and has none of these characters either', async t => {
  const value = { all: OBEYED.join(''), text: 'Größe 🚀' }
  t.same(JSON.parse(escapedJson(value)), value)
  t.notMatch(escapedJson(value), new RegExp(`[${OBEYED.slice(32).join('')}]`, 'u'))
})
