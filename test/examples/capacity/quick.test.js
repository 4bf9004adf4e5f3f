'use strict'

/** The quick form of the capacity test, whole. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { runToEnd } = require('../../support/processes')

const TOOL = path.join(__dirname, '..', '..', '..', 'examples', 'capacity')

t.test('it fills a server until its heap gives, another until its descriptors give, and has two hold a storm', async t => {
  const file = path.join(t.testdir(), 'result.json')
  const { code, stdout, stderr } = await runToEnd([process.execPath, TOOL, '--quick', '--storm', '300', '--json', file], { timeoutMs: 110_000 })
  t.equal(code, 0, stderr)
  const { limits, cells, storms } = JSON.parse(fs.readFileSync(file, 'utf8'))
  t.match(stdout, /^Limits: 2,500 descriptors a process, [\d,]+ ports an address, /)

  const [small, large] = cells
  t.equal(small.gave, 'heap')
  t.ok(small.clients > 500 && small.clients < large.clients)
  t.equal(small.foreseen[0].cause, 'heap')
  t.equal(large.gave, 'descriptors (EMFILE)')
  t.equal(large.foreseen[0].cause, 'descriptors')
  t.equal(large.descriptors, limits.descriptors)
  t.ok(Math.abs(large.clients - large.foreseen[0].clients) < 40, 'as it was said beforehand')
  t.ok(large.buffersBytes >= large.clients * 8192, 'the buffers are off the heap')
  t.ok(stdout.indexOf('heap will give, at about') < stdout.indexOf('heap gave'), 'beforehand')

  for (const storm of storms) {
    t.match(storm, { clients: 300, loggedIn: 300, unanswered: 0, lost: {} }, storm.subject)
    t.ok(storm.login.min <= storm.login.p50 && storm.login.p50 <= storm.login.p99 && storm.login.p99 <= storm.login.max)
    t.ok(storm.ping.max > 0)
  }
  t.match(stdout, /recycle --max-rss 100MiB: holds all 300, over \d+ recycles with 0 cut/)
})

t.test('bad input gets one sentence, and exit 2', async t => {
  for (const [args, sentence] of /** @type {[string[], RegExp][]} */ ([
    [['--heap', 'much'], /--heap takes sizes such as 128MiB,1GiB: much/],
    [['--storm', '-1'], /--storm/],
    [['--only', 'all'], /--only takes table or storm: all/],
    [['--nothing'], /Unknown option '--nothing'/]
  ])) {
    const { code, stderr } = await runToEnd([process.execPath, TOOL, ...args])
    t.equal(code, 2, args.join(' '))
    t.match(stderr, sentence)
  }
})
