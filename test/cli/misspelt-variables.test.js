'use strict'

const t = require('tap')
const { misspeltVariables } = require('../../lib/cli/misspelt-variables')
const { OPTIONS } = require('../../lib/tables/options')

t.test('a variable that is nearly the one of an option is told with that', async t => {
  for (const [variable, meant] of [['RECYCLE_WORKRS', 'RECYCLE_WORKERS'], ['RECYCLE_MAXRSS', 'RECYCLE_MAX_RSS'], ['RECYCLE_CONFG', 'RECYCLE_CONFIG'], ['RECYCLE_CONTROLDIR', 'RECYCLE_CONTROL_DIR']]) {
    t.same(misspeltVariables({ [variable]: '3' }), [{ variable, meant }])
  }
})

t.test('nothing is said of variables that are read, that recycle sets itself, or that are for another program', async t => {
  const read = OPTIONS.map(({ env }) => env)
  const set = ['RECYCLE_CONFIG', 'RECYCLE_CONTROL_DIR', 'RECYCLE_SLOT', 'RECYCLE_WORKER_ID', 'RECYCLE_WORKER', 'RECYCLE_ORIGINAL', 'RECYCLE_PREDECESSOR']
  const kubernetes = ['SERVICE_HOST', 'SERVICE_PORT', 'SERVICE_PORT_HTTP', 'PORT', 'PORT_80_TCP', 'PORT_80_TCP_ADDR', 'PORT_80_TCP_PORT', 'PORT_80_TCP_PROTO'].map(name => `RECYCLE_${name}`)
  const others = ['RECYCLER_WORKERS', 'WORKRS', 'RECYCLE_BIN_FOLDER', 'RECYCLE_', 'recycle_workrs']
  t.same(misspeltVariables(Object.fromEntries([...read, ...set, ...kubernetes, ...others].map(name => [name, '1']))), [])
})
