'use strict'

const path = require('node:path')
const t = require('tap')
const { longAlone } = require('../support/campaign')
const { startFleet } = require('../support/fleet')
const { LOAD, app, nothingFailed, study } = require('../support/leak-study')
const { compareLeak } = require('../support/leaking-apps')
const { Load } = require('../support/load')

const TSX = `--import=${path.join(__dirname, '../../node_modules/tsx/dist/esm/index.mjs')}`

// Source maps, URLs of ES modules, and the folding of what a dependency allocates: the default suite has each once.
for (const [name, language, skip] of /** @type {const} */ ([
  ['an LRU without bound', 'ts', false],
  ['a leak in a dependency', 'esm', false],
  ['a leak in a dependency', 'cjs', longAlone('8')],
  ['a Map by id', 'esm', longAlone('8')]
])) {
  t.test(`${name}, ${language}`, { skip }, async t => {
    const leaking = app(t, name, language)
    const { port, supervisor } = await startFleet(t, leaking.file, { interval: '500ms', ...language === 'ts' ? { nodeOption: [TSX] } : {} })
    const load = new Load({ port, ...LOAD })
    const result = await study(supervisor, 0)
    t.equal(compareLeak(result, leaking), 'right', JSON.stringify(result))
    await nothingFailed(t, load)
  })
}

t.test('an app that keeps nothing: no line is named', async t => {
  const { port, supervisor } = await startFleet(t, app(t, 'none: what a request needs is freed').file, { interval: '500ms' })
  const load = new Load({ port, ...LOAD })
  const result = await study(supervisor, 0)
  t.match(result, { verdict: 'none' }, JSON.stringify(result))
  await nothingFailed(t, load)
})
