'use strict'

/**
 * Bad input of every kind, some hundreds each; `npm run fuzz` tries 100,000 each, and FUZZ_RUNS so many. FUZZ_SEED
 * makes other input.
 */

const t = require('tap')
const { TARGETS } = require('./fuzz')

const numRuns = Number(process.env.FUZZ_RUNS ?? 100)
const seed = Number(process.env.FUZZ_SEED ?? 33)

t.setTimeout(60_000 + numRuns * 60)

for (const { name, fuzz } of TARGETS.filter(({ name }) => name.includes(process.env.FUZZ_ONLY ?? ''))) {
  t.test(`${name}: no bad input ends the process or hangs it, and each refusal is one sentence`, async t => {
    const began = Date.now()
    await fuzz({ numRuns, seed }, t.testdir({}))
    t.pass(`${numRuns} inputs in ${Date.now() - began} ms`)
  })
}
