'use strict'

const t = require('tap')
const { whatGave } = require('../../../examples/capacity/verdict')

const SEEN = { exit: null, stderr: '', descriptors: 500, descriptorLimit: 20_000, isMemoryLow: false, lost: {}, isStuck: false, heapUsedBytes: 10, heapLimitBytes: 100 }

for (const [cause, seen] of /** @type {[string, Partial<typeof SEEN> | any][]} */ ([
  ['nothing', {}],
  ['heap', { exit: { code: null, signal: 'SIGABRT' }, stderr: 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory', lost: { ECONNRESET: 500 } }],
  ['heap', { isStuck: true, heapUsedBytes: 95 }],
  ['off-heap buffers', { exit: { code: 1, signal: null }, stderr: 'RangeError: Array buffer allocation failed', lost: { closed: 500 } }],
  ['descriptors (EMFILE)', { descriptors: 20_000, lost: { closed: 12, ECONNRESET: 3 } }],
  ['descriptors (EMFILE)', { descriptors: 20_000, isStuck: true }],
  ["clients' descriptors (EMFILE)", { lost: { EMFILE: 1 } }],
  ['ports (EADDRNOTAVAIL)', { lost: { EADDRNOTAVAIL: 1 } }],
  ['memory', { isMemoryLow: true }],
  ['memory', { exit: { code: null, signal: 'SIGKILL' }, lost: { ECONNRESET: 500 } }],
  ['unknown', { lost: { ECONNRESET: 1 } }],
  ['unknown', { exit: { code: 1, signal: null } }]
])) t.test(`${JSON.stringify(seen)}: ${cause}`, async t => { t.equal(whatGave({ ...SEEN, ...seen }), cause) })
