'use strict'

const t = require('tap')
const { Command } = require('commander')
const { hasLost, losses } = require('../../../lib/cli/verbs')
const { addLeak } = require('../../../lib/features/leak-line/command')

const RECYCLED = { event: 'recycled', slot: 0, cut: 0, moved: 3, unaccounted: 0, ended: 'retired' }

/** @param {Record<string, unknown>[]} recycled @returns {Promise<unknown>} the exit code of `recycle leak 0` */
async function exitCodeWith (recycled) {
  const outcome = { verdict: 'none', requests: 500, bytes: 0, mostPerRequest: 600, outside: null, found: [] }
  const result = { ...outcome, slot: 0, pid: 7, why: null, tookMs: 2000, outcome, readings: [], growth: null, recycled }
  const client = { call: async (/** @type {string} */ verb) => verb === 'status' ? { workers: [] } : result }
  const program = new Command('recycle')
  addLeak(program, /** @type {any} */ ({
    addFleetName: (/** @type {Command} */ command) => command.argument('[name]'),
    addFleetOptions: (/** @type {Command} */ command) => command,
    withFleet: async (/** @type {unknown} */ _, /** @type {(client: unknown) => unknown} */ use) => use(client),
    complain () {},
    print () {},
    hasLost,
    losses
  }))
  const before = process.exitCode
  process.exitCode = undefined
  await program.parseAsync(['node', 'recycle', 'leak', '0'])
  const { exitCode } = process
  process.exitCode = before
  process.removeAllListeners('SIGINT')
  return exitCode
}

t.test('recycle leak fails where one of its two recycles has cut a request, or lost a worker', async t => {
  t.equal(await exitCodeWith([RECYCLED, RECYCLED]), undefined)
  t.equal(await exitCodeWith([RECYCLED, { ...RECYCLED, cut: 1 }]), 1)
  t.equal(await exitCodeWith([{ ...RECYCLED, ended: 'killed' }, RECYCLED]), 1)
})
