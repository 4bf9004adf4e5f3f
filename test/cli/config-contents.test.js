'use strict'

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const fc = require('fast-check')
const Ajv = require('ajv')
const { readConfig } = require('../../lib/cli/config-contents')
const { configSchema } = require('../config-schema')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions } = require('../../lib/tables/resolved-options')

const { optionTypes } = require('../schema')

const TYPES = path.join(__dirname, '..', '..', 'lib', 'options.d.ts')

/** The schema, which editors use, and the command must accept the same values. */
const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(configSchema())

/** @param {any} held */
function resolve (held) {
  return resolveOptions({}, { file: readConfig(held, 'recycle.config.json'), parallelism: 2 })
}

/** @param {any} held @returns {string | null} what is wrong */
function refusal (held) {
  try {
    resolve(held)
    return null
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

t.test('the types are those of the options (npm run schema)', async t => {
  t.equal(fs.readFileSync(TYPES, 'utf8'), optionTypes())
})

const GOOD = {
  'an empty file': {},
  'a file with every key that is not an option': { $schema: './node_modules/recycle-supervisor/config.schema.json', app: 'app.js', args: ['-x', '1'] },
  'numbers as numbers': { workers: 3, samples: 1, jitter: 12.5, drainTimeout: 0, maxRss: 67108864, admin: 9100, maxSurge: 2 },
  'sizes, times and percentages as text': { maxRss: '1.5G', hardRss: '2 GiB', interval: '250ms', maxAge: '2h', drainTimeout: '0', jitter: '10%' },
  ranges: { workers: '2..auto' },
  words: { workers: 'auto', metric: 'pss', meter: 'smaps', log: 'json', schedule: 'shared', control: 'none', admin: '[::1]:9100' },
  switches: { handoff: false, prefix: true, compileCache: true },
  'flags as a list': { nodeOption: ['--expose-gc', '--stack-size=2000'] },
  'flags as text': { nodeOption: '--expose-gc --stack-size=2000' }
}

for (const [what, held] of Object.entries(GOOD)) {
  t.test(`good: ${what}`, async t => {
    t.equal(refusal(held), null)
    t.ok(validate(held), JSON.stringify(validate.errors))
  })
}

/** @type {Record<string, [any, string]>} */
const BAD = {
  'a number as text': [{ samples: '4' }, 'samples in recycle.config.json was given "4"; it takes a whole number from 1 to 1000, as a number'],
  'a switch as text': [{ handoff: 'false' }, 'handoff in recycle.config.json was given "false"; it takes true or false (also 1 or 0), as a boolean'],
  'a switch as a number': [{ prefix: 1 }, 'prefix in recycle.config.json was given 1; it takes true or false (also 1 or 0), as a boolean'],
  'a number out of range': [{ samples: 0 }, 'samples in recycle.config.json was given 0; it takes a whole number from 1 to 1000'],
  'half a worker': [{ workers: 1.5 }, 'workers in recycle.config.json was given 1.5; it takes a whole number from 1 to 1024, auto, or a range such as 2..8 or 2..auto'],
  null: [{ maxRss: null }, 'maxRss in recycle.config.json was given null; it takes a size of at least 1MiB, such as 512MiB or 1.5G, or auto, as a number or a string'],
  'a list where one value is expected': [{ metric: ['rss'] }, 'metric in recycle.config.json was given ["rss"]; it takes one of rss, anon, pss, uss'],
  'a word that is not a metric': [{ metric: 'vsz' }, 'metric in recycle.config.json was given "vsz"; it takes one of rss, anon, pss, uss'],
  'no size': [{ maxRss: '5 apples' }, 'maxRss in recycle.config.json was given "5 apples"; it takes a size of at least 1MiB, such as 512MiB or 1.5G, or auto'],
  'no time': [{ interval: '-1s' }, 'interval in recycle.config.json was given "-1s"; it takes a time of 50ms to 24 days, such as 500ms, 30s or 2h'],
  'no flags': [{ nodeOption: ['inspect'] }, 'nodeOption in recycle.config.json was given ["inspect"]; it takes Node or V8 flags, each starting with -'],
  'no path': [{ journal: '' }, 'journal in recycle.config.json was given ""; it takes a path'],
  'an unknown key that resembles one': [{ max_rss: '1G' }, 'the config file recycle.config.json has an unknown key "max_rss"; did you mean maxRss?'],
  'an unknown key with a letter too few': [{ wrkers: 2 }, 'the config file recycle.config.json has an unknown key "wrkers"; did you mean workers?'],
  'an unknown key that resembles none': [{ exec_mode: 'cluster' }, 'the config file recycle.config.json has an unknown key "exec_mode"; workers always share their ports, as in pm2\'s cluster mode'],
  'an unknown key that nothing is like': [{ colour: 'red' }, 'the config file recycle.config.json has an unknown key "colour"; recycle --config none --print-config lists those there are'],
  'the environment': [{ env: { PORT: 1 } }, 'the config file recycle.config.json has an unknown key "env"; the workers have the environment in which recycle is started'],
  'a key of pm2 that is a flag of its too': [{ max_memory_restart: '1G' }, 'the config file recycle.config.json has an unknown key "max_memory_restart"; write maxRss'],
  'workers as text': [{ workers: '4' }, 'workers in recycle.config.json was given "4"; it takes a whole number from 1 to 1024, auto, or a range such as 2..8 or 2..auto, as a number without quotes'],
  'bytes as text': [{ maxRss: '67108864' }, 'maxRss in recycle.config.json was given "67108864"; it takes a size of at least 1MiB, such as 512MiB or 1.5G, or auto, as a number without quotes'],
  'descriptors as text': [{ maxFds: '500' }, 'maxFds in recycle.config.json was given "500"; it takes a whole number from 16 to 1000000000, or a percentage of the limit of the process, such as 80%, as a number without quotes'],
  'a percentage as text': [{ jitter: '10' }, 'jitter in recycle.config.json was given "10"; it takes a percentage from 0 to 90, such as 10 or 10%, as a number without quotes'],
  'a port as text': [{ admin: '9100' }, 'admin in recycle.config.json was given "9100"; it takes a port, or host:port, such as 9100, 127.0.0.1:9100 or [::1]:9100, as a number without quotes'],
  'a time without a unit': [{ drainTimeout: 30 }, 'drainTimeout in recycle.config.json was given 30; it takes a time with a unit: 30s for seconds, or 30ms for milliseconds'],
  'an app that is none': [{ app: 3 }, 'the config file recycle.config.json has an app that is not a path; it takes the file that `node` would run'],
  'args in one string': [{ args: '-x 1' }, 'the config file recycle.config.json has args that are not an array of strings'],
  'several apps, as a list': [[{ app: 'a.js' }], "the config file recycle.config.json holds several apps, as pm2's ecosystem file does; run one recycle per app, each with a file of its own (--config)"],
  'several apps, as pm2 has them': [{ apps: [{ script: 'a.js' }] }, "the config file recycle.config.json holds several apps, as pm2's ecosystem file does; run one recycle per app, each with a file of its own (--config)"],
  text: ['app.js', 'the config file recycle.config.json holds a string; it takes an object of options'],
  'a null': [null, 'the config file recycle.config.json holds null; it takes an object of options']
}

for (const [what, [held, sentence]] of Object.entries(BAD)) {
  t.test(`bad: ${what}`, async t => {
    t.equal(refusal(held), sentence)
    t.notOk(validate(held), 'the schema refuses it too')
  })
}

t.test('a function and nothing are no config', async t => {
  t.match(refusal(() => ({})), 'holds a function; it takes an object of options')
  t.match(refusal(undefined), 'holds nothing; it takes an object of options')
})

t.test('every value that the command accepts, the schema accepts', async t => {
  const value = fc.oneof(
    fc.integer(), fc.double(), fc.boolean(), fc.string(), fc.constant(null), fc.array(fc.string()),
    fc.stringMatching(/^\s?\d{1,6}(\.\d)?\s?([kmgtKMGT]?(i?b|I?B)?|ms|s|h|%)?\s?$/),
    fc.stringMatching(/^(\[[\da-f:]{1,5}\]:|[a-z.]{1,5}:)?\d{1,5}$/),
    fc.constantFrom('auto', 'none', ...OPTIONS.flatMap(o => o.kind.words ?? []))
  )
  let taken = 0
  fc.assert(fc.property(fc.constantFrom(...OPTIONS), value, ({ name }, value) => {
    const held = { maxRss: '1MiB', [name]: value } // some are refused without a budget
    if (refusal(held) !== null) return
    taken++
    if (!validate(held)) throw new Error(`${name}: ${JSON.stringify(value)}: ${JSON.stringify(validate.errors)}`)
  }), { numRuns: 3000 })
  t.ok(taken > 100, `${taken} were taken`)
})
