'use strict'

const Ajv = require('ajv').default
const fc = require('fast-check')
const t = require('tap')
const { isOfType, readAs, textOf, types, typesOf } = require('../../lib/core/option-types')

const MIB = 1024 ** 2
const LONGEST_MS = 2 ** 31 - 1

/**
 * @type {[string, import('../../lib/core/option-types').OptionKind, [given: unknown, read: unknown][],
 *   refused: unknown[]][]}
 */
const KINDS = [
  ['count', types.count(2, 40), [['2', 2], [40, 40], ['007', 7]], ['1', 41, '2.5', '1e1', ' 3', '-3', '', true, null, [3]]],
  ['whole', types.whole(), [['0', 0], [7, 7], ['100000', 100_000]], ['-1', '1.5', 'x', '', null, [1]]],
  ['workers', types.workers(), [['1', 1], [1024, 1024], ['auto', 'auto'], ['1..1', { min: 1, max: 1 }], ['2..2', { min: 2, max: 2 }], ['1..1024', { min: 1, max: 1024 }], ['3..auto', { min: 3, max: 'auto' }]],
    ['0', 1025, '3..2', '0..2', '1..1025', '1025..auto', 'auto..3', '..2', '2..', '1..2..3', 'x2..3', 'AUTO']],
  ['size', types.size(), [[MIB, MIB], ['1M', MIB], ['1.5GiB', 1536 * MIB], [String(2 * MIB), 2 * MIB], [2 ** 53 - 1, 2 ** 53 - 1]], [MIB - 1, '1023k', '9000000T', 'M', '', '1MiBs', {}]],
  ['budget', types.budget(), [['auto', 'auto'], ['2M', 2 * MIB]], ['1k', 'automatic']],
  ['sizeOrPercent', types.orPercent(types.size(), 'it'), [['1%', { share: 0.01 }], ['12.5%', { share: 0.125 }], ['100%', { share: 1 }], ['1M', { most: MIB }], [MIB, { most: MIB }]], ['0.9%', '101%', '%', '1k', 'x5%', '5%%', 5]],
  ['countOrPercent', types.orPercent(types.count(5, 9), 'it'), [['5', { most: 5 }], [9, { most: 9 }], ['50%', { share: 0.5 }]], ['4', 10, '0%', '100.5%']],
  ['urlPath', types.urlPath(), [['/', '/'], ['/a?b=~!', '/a?b=~!'], [`/${'x'.repeat(1000)}`, `/${'x'.repeat(1000)}`]], ['', 'a', 'a/', '/a b', '/\x7f', '/é', `/${'x'.repeat(1001)}`, 5]],
  ['time', types.time(100, '100ms'), [['100ms', 100], ['1.5s', 1500], [' 2 h ', 7_200_000], [`${LONGEST_MS}ms`, LONGEST_MS]], ['99ms', `${LONGEST_MS + 1}ms`, 0, '0', 500, '500', 's', '5 parsecs', '']],
  ['time from 0', types.time(0, '0'), [[0, 0], ['00', 0], ['0s', 0], ['1ms', 1]], [1, '-1s']],
  ['percent', types.percent(), [['0', 0], ['10%', 0.1], [90, 0.9], ['12.5', 0.125], [2.5, 0.025]], ['90.1', 91, '-1', '%', '1%%', 'x1', '']],
  ['oneOf', types.oneOf('on', 'off'), [['on', 'on'], ['off', 'off']], ['ON', '', 'toString', true]],
  ['path', types.path('none'), [['a b/c', 'a b/c'], ['none', 'none']], ['', 5, null]],
  ['name', types.name(), [['a', 'a'], ['0.b-c_D', '0.b-c_D'], [7, '7'], ['x'.repeat(64), 'x'.repeat(64)]], ['', '.a', '-a', '_a', 'a b', 'a/b', 'a\n', 'x'.repeat(65)]],
  ['address', types.address(), [[0, { host: '127.0.0.1', port: 0 }], ['65535', { host: '127.0.0.1', port: 65535 }], ['h.example:80', { host: 'h.example', port: 80 }], ['[fe80::1]:9', { host: 'fe80::1', port: 9 }]],
    [65536, '', ':1', 'h:', '::1', '::1:80', '[h]:80', 'a b:80', 'h:65536', '1.5', -1]],
  ['list', types.list(), [['--a  -b ', ['--a', '-b']], [['--a', '-b c'], ['--a', '-b c']], ['', []], [[], []]], ['a', '--a b', ['--a', 'b'], [5], 5]],
  ['boolean', types.boolean(), [[true, true], ['1', true], [1, true], ['true', true], [false, false], ['0', false], ['false', false]], ['yes', '', 2, 'toString', null]]
]

const ajv = new Ajv({ strict: false })

for (const [name, kind, good, bad] of KINDS) {
  t.test(`${name}: what it is read as, and what is refused`, async t => {
    for (const [given, read] of good) t.same(kind.read(given), read, JSON.stringify(given))
    for (const given of bad) t.equal(kind.read(given), undefined, JSON.stringify(given))
  })

  const alphabet = fc.constantFrom(...'0123456789.%kMGiBmsh-/:[]a ', 'auto', '..')
  const value = fc.oneof(fc.constantFrom(...good.map(([given]) => given), ...bad), fc.nat(2 * MIB), fc.double({ noNaN: true }), fc.array(alphabet, { maxLength: 8 }).map(parts => parts.join('')))
  t.test(`${name}: an editor that knows the schema accepts what a config file may contain`, async t => {
    const isValid = ajv.compile(kind.schema)
    fc.assert(fc.property(value, given =>
      kind.read(given) === undefined || !isOfType(kind.schema, given) || isValid(given)), { numRuns: 500, seed: 51 })
    t.ok(good.some(([given]) => isOfType(kind.schema, given) && isValid(given)))
  })

  // A file has text, or true and false; elsewhere a number may stand for them
  if (name === 'name' || name === 'boolean') continue
  t.test(`${name}: of whole numbers the schema has those, and no other`, async t => {
    const isValid = ajv.compile(kind.schema)
    const known = [...good.map(([given]) => given), ...bad].filter(given => Number.isInteger(given))
    fc.assert(fc.property(fc.oneof(
      fc.constantFrom(0, 1, 1024, 1025, MIB - 1, MIB, ...known), fc.integer({ min: -2, max: 120 })
    ), given => isValid(given) === (kind.read(given) !== undefined)), { numRuns: 500, seed: 51 })
    t.pass()
  })
}

t.test('a kind says what it accepts in words, with its bounds', async t => {
  t.equal(types.count(2, 40).accepts, 'a whole number from 2 to 40')
  t.equal(types.time(100, '100ms').accepts, 'a time of 100ms to 24 days, such as 500ms, 30s or 2h')
  t.equal(types.time(10_000, '10s').accepts, 'a time of 10s to 24 days, such as 30s or 2h', 'no example that it refuses')
  t.equal(types.oneOf('on', 'off').accepts, 'one of on, off')
  t.equal(types.path('none', 'auto').accepts, 'a path, or none, or auto')
  t.equal(types.path().accepts, 'a path')
  t.match(types.budget().accepts, /^a size of at least 1MiB.*, or auto$/)
  t.match(types.orPercent(types.size(), 'the heap').accepts, /, or a percentage of the heap,/)
  t.match(types.time(0, '0').instead?.('30'), '30s for seconds, or 30ms')
  t.equal(types.time(0, '0').instead?.('30s'), undefined)
  t.ok(types.path().isFile)
  t.same([types.workers().words, types.budget().words, types.oneOf('on', 'off').words, types.path('none').words], [['auto'], ['auto'], ['on', 'off'], ['none']])
})

t.test('a value is read, or refused in a sentence that names the option; a mistake of its own has its own', async t => {
  const time = types.time(1, '1ms', { max: 600_000, to: '10m', such: '10s' })
  t.equal(readAs(time, '10m', '--duration'), 600_000)
  t.throws(() => readAs(time, '11m', '--duration'), { code: 'RECYCLE_BAD_OPTION', message: '--duration was given "11m"; it takes a time of 1ms to 10m, such as 10s' })
  t.throws(() => readAs(time, '30', '--duration'), { message: '--duration was given "30"; it takes a time with a unit: 30s for seconds, or 30ms for milliseconds' })
})

t.test('a config file may not have a number in quotes where a number may stand, nor another type', async t => {
  const { schema } = types.workers()
  t.same([4, 'auto', '2..8', '4', ' 4.5 ', true, null, {}].map(given => isOfType(schema, given)), [true, true, true, false, false, false, false, false])
  t.ok(isOfType(types.path().schema, '4'), 'where a number is no value, quotes are no mistake')
  t.ok(isOfType(types.time(0, '0').schema, '0'))
  t.same([types.time(0, '0'), types.time(1, '1ms')].map(({ schema }) => ajv.validate(schema, '0')), [true, false])
  t.same([4, 4.5, '4', true].map(given => isOfType(types.count(1, 9).schema, given)), [true, true, false, false], 'read() checks its form')
  t.same(['on', 'ON', true].map(given => isOfType(types.oneOf('on', 'off').schema, given)), [true, false, false])
  t.same([[], ['-a'], '-a', 5].map(given => isOfType(types.list().schema, given)), [true, true, true, false])
  t.same([true, 1, 'true'].map(given => isOfType(types.boolean().schema, given)), [true, false, false])
})

t.test('which types it may have is said in words', async t => {
  t.equal(typesOf(types.workers().schema, '4'), 'a number without quotes')
  t.equal(typesOf(types.workers().schema, true), 'a number or a string')
  t.equal(typesOf(types.count(1, 9).schema, '4'), 'a number')
  t.equal(typesOf(types.percent().schema, true), 'a number or a string')
  t.equal(typesOf(types.orPercent(types.size(), 'it').schema, true), 'a number or a string')
  t.equal(typesOf(types.list().schema, 5), 'an array or a string')
  t.equal(typesOf(types.boolean().schema, 5), 'a boolean')
  t.equal(typesOf(types.oneOf('on').schema, 5), '', 'its words say it')
})

t.test('text, numbers and booleans have a text; what has none is no value', async t => {
  t.same(['a', 5, true, null, undefined, {}, ['a']].map(textOf), ['a', '5', 'true', '', '', '', ''])
})
