'use strict'

const { quickBench, BENCH } = require('../support/bench')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { longAlone } = require('../support/campaign')
const { lacking } = require('../support/program')

t.test('bench:proxy --quick reloads recycle behind nginx, and no client sees an error', { skip: longAlone('6', 'npm run test:bench') || lacking('nginx') }, async t => {
  const { said, figures } = await quickBench(t, 'proxy')
  const { requests, recycles, badGateway, otherErrors, dropped, reopened, errors } = figures('behind nginx, rolling reloads', 'recycle-reload')
  t.ok(requests > 100 && recycles >= 1, `${requests} requests, ${recycles} workers replaced`)
  t.same({
    badGateway, otherErrors, dropped, reopened, errors
  }, { badGateway: 0, otherErrors: 0, dropped: 0, reopened: 0, errors: {} })
  t.match(said, 'goal met:    behind nginx, rolling reloads: recycle-reload: dropped 0 (goal ≤ 0)')
})

t.test('bench:proxy is skipped by one sentence without nginx', t => {
  const getconf = String(process.env.PATH).split(':').map(folder => path.join(folder, 'getconf')).find(file => fs.existsSync(file))
  // A bench runs it for the page size
  const folder = t.testdir(getconf ? { getconf: t.fixture('symlink', getconf) } : {})
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(BENCH, 'proxy.js'), '--quick'], { env: { ...process.env, PATH: folder }, encoding: 'utf8' })
  t.same([status, stderr], [0, ''])
  t.match(stdout, /^bench:proxy is skipped: there is no nginx in PATH [^\n]*\n$/)
  t.end()
})
