'use strict'

const { PassThrough } = require('node:stream')
const t = require('tap')
const { openProgress } = require('../../../lib/tools/drill/progress')

/** @param {{ isTTY: boolean, columns?: number }} terminal */
function open ({ isTTY, columns }) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns })
  const progress = openProgress(/** @type {any} */ (stream))
  return { progress, text: () => String(stream.read() ?? '') }
}

const figures = { phase: /** @type {const} */ ('load'), elapsedMs: 15_300, durationMs: 30_000, requests: 12_345, dropped: 0, recycles: 1, p99Ms: 12.3 }

t.test('on a terminal, a bar that is redrawn in one line', async t => {
  const { progress, text } = open({ isTTY: true, columns: 100 })
  progress.update(figures)
  t.equal(text(), '\r\x1b[K██████████░░░░░░░░░░  51 %  12,345 requests  0 dropped  1 recycle  p99 12.3 ms')
  progress.update({ ...figures, phase: 'stopping', elapsedMs: 31_000, p99Ms: null })
  t.equal(text(), '\r\x1b[K████████████████████ 100 %  12,345 requests  0 dropped  1 recycle  stopping under load')
  progress.close()
  t.equal(text(), '\r\x1b[K', 'the bar is erased')
})

t.test('it never fills the line, or the terminal would scroll', async t => {
  const { progress, text } = open({ isTTY: true, columns: 40 })
  progress.update(figures)
  t.equal(text().slice(4).length, 39)
})

t.test('elsewhere, plain lines, at most one a second', async t => {
  const { progress, text } = open({ isTTY: false })
  progress.update({ ...figures, phase: 'booting' })
  progress.update(figures)
  progress.update(figures)
  progress.close()
  t.equal(text(), '15s of 30s  12,345 requests  0 dropped  1 recycle  p99 12.3 ms\n')
})
