'use strict'

const t = require('tap')
const fc = require('fast-check')
const { parseSize, parseTime, withUnit, formatSize, formatTime, grouped, count } = require('../../lib/core/units')

const KIB = 1024
const MIB = 1024 ** 2
const GIB = 1024 ** 3

t.test('sizes are read as people write them, in powers of 1024', async t => {
  for (const [text, size] of /** @type {const} */ ([
    ['512M', 512 * MIB], ['512MB', 512 * MIB], ['512MiB', 512 * MIB], ['512mib', 512 * MIB], ['512 MiB', 512 * MIB],
    [' 512M ', 512 * MIB], ['1.5g', 1.5 * GIB], ['1.5G', 1.5 * GIB], ['64k', 64 * KIB], ['1T', 1024 * GIB],
    ['4096', 4096], ['4096B', 4096], [4096, 4096], ['0', 0]
  ])) t.equal(parseSize(text), size, JSON.stringify(text))
})

t.test('text that is not a size is refused, also if a part of it is one', async t => {
  for (const text of ['512foo', '512Mx', 'M', '', ' ', '-1M', '+1M', '1,5G', '1e9', '0x10', '1.M', '.5G', '1 2M', 'Infinity', 'NaN', '512P']) {
    t.equal(parseSize(text), undefined, JSON.stringify(text))
  }
  for (const value of [-1, NaN, Infinity, null, undefined, true, {}]) {
    t.equal(parseSize(/** @type {any} */ (value)), undefined, String(value))
  }
})

t.test('a size is whole bytes', async t => {
  fc.assert(fc.property(fc.double({ min: 0, max: 1000, noNaN: true }), fc.constantFrom('k', 'M', 'GiB', ''), (value, unit) => {
    const size = parseSize(value.toFixed(3) + unit)
    if (!Number.isInteger(size)) throw new Error(`${value.toFixed(3)}${unit} gave ${size}`)
  }))
  t.pass()
})

t.test('times are read as people write them', async t => {
  for (const [text, time] of /** @type {const} */ ([
    ['250ms', 250], ['30s', 30_000], ['30 s', 30_000], ['1.5h', 5_400_000], ['2m', 120_000], ['1d', 86_400_000],
    [' 30s ', 30_000], ['30S', 30_000], ['0', 0], [0, 0], ['0s', 0]
  ])) t.equal(parseTime(text), time, JSON.stringify(text))
})

t.test('text that is not a time is refused', async t => {
  for (const text of ['30 parsecs', '', 's', '-30s', '+30s', '1,5h', '30s5', '1e3', '1h30m', 'Infinity', '1'.repeat(200)]) {
    t.equal(parseTime(text), undefined, JSON.stringify(text))
  }
  for (const value of [-1, NaN, null, undefined, true, 30, '30', '0.5', ' 250 ']) t.equal(parseTime(/** @type {any} */ (value)), undefined, String(value))
})

t.test('the parsers never throw', async t => {
  fc.assert(fc.property(fc.string(), text => {
    for (const parse of [parseSize, parseTime]) {
      const value = parse(text)
      if (value !== undefined && !(value >= 0)) throw new Error(`${parse.name} gave ${value}`)
    }
  }))
  t.pass()
})

t.test('sizes are shown with a unit that says 1024', async t => {
  t.equal(formatSize(512 * MIB), '512 MiB')
  t.equal(formatSize(1.5 * MIB), '1.5 MiB')
  t.equal(formatSize(64 * KIB), '64 KiB')
  t.equal(formatSize(GIB), '1 GiB')
  t.equal(formatSize(100), '100 B')
})

t.test('a number alone has two readings as a time, and both are named', async t => {
  t.equal(withUnit('30'), 'a time with a unit: 30s for seconds, or 30ms for milliseconds')
  t.equal(withUnit(1.5), 'a time with a unit: 1.5s for seconds, or 1.5ms for milliseconds')
  for (const text of ['30s', 'soon', '', '-1', '3 4', '0']) t.equal(withUnit(text), undefined, text)
})

t.test('times are shown in short', async t => {
  t.equal(formatTime(250), '250ms')
  t.equal(formatTime(249.6), '250ms')
  t.equal(formatTime(1500), '1.5s')
  t.equal(formatTime(1000), '1s')
  t.equal(formatTime(30_000), '30s')
  t.equal(formatTime(2 * 3_600_000), '2h')
  t.same([59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000].map(formatTime), ['60s', '1m', '60m', '1h', '24h', '1d'])
})

t.test('the text shown is within 5 % of the value', async t => {
  const near = (/** @type {number | undefined} */ read, /** @type {number} */ meant) =>
    read !== undefined && Math.abs(read - meant) <= 0.05 * meant
  for (const size of [1.25, 1.4, 1.5, 2.5, 12.5].flatMap(n => [n * KIB, n * MIB, n * GIB])) {
    t.ok(near(parseSize(formatSize(size)), size), `${size} bytes are shown as ${formatSize(size)}`)
  }
  for (const time of [250, 1250, 9900, 45_000, 90_000, 150_000, 5_400_000, 9_000_000]) {
    t.ok(near(parseTime(formatTime(time)), time), `${time} ms are shown as ${formatTime(time)}`)
  }
})

t.test('numbers have commas, and what is counted its plural', async t => {
  t.same([0, 999, 1000, 1234567, -1234, 0.6].map(grouped), ['0', '999', '1,000', '1,234,567', '-1,234', '1'])
  t.equal(grouped(2 ** 60), '1,152,921,504,606,847,000')
  t.same([count(0, 'worker'), count(1, 'worker'), count(1234, 'worker'), count(2, 'process', 'processes')], ['0 workers', '1 worker', '1,234 workers', '2 processes'])
})
