'use strict'

/**
 * What recycle advises is done, and helps. Advice whose effect shows in a running fleet alone has tests beside that:
 * habits.test.js (tsx), start-failures.test.js (--ready-on online, -w 1), steps.test.js and report's.
 */

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { COMMANDS, flagsAfterApp } = require('../../lib/cli/habits')
const { FLAGS } = require('../../lib/tables/habits')
const { refuseLauncher } = require('../../lib/cli/launchers')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { call } = require('../support/calls')

// The root's testdir() is one and the same for all files of a bundle
const folder = tree(fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'advice-'))), {
  'app.js': '',
  'server.ts': '',
  dist: { 'main.js': '' },
  node_modules: { next: { 'package.json': '{ "bin": "next.js" }', 'next.js': '' }, '.bin': { next: '#!/bin/sh\nexec node "$basedir/../next/next.js" "$@"\n' } },
  flagged: { 'package.json': '{ "scripts": { "start": "node --enable-source-maps -r ./app.js --env-file .env ../app.js --its own" } }' }
})
t.teardown(() => fs.rmSync(folder, { recursive: true }))

/** @param {string} at @param {Record<string, any>} files their contents, and folders @returns {string} `at` */
function tree (at, files) {
  fs.mkdirSync(at, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string') fs.writeFileSync(path.join(at, name), content)
    else tree(path.join(at, name), content)
  }
  return at
}

/**
 * Does what a sentence says to write.
 *
 * @param {string} sentence @param {string} [cwd]
 * @returns {Promise<string | undefined>} the app and its arguments, as in the service that `recycle unit` prints
 */
async function follow (sentence, cwd = folder) {
  const written = /(?:^|\s)recycle (\S[^;]*)/.exec(sentence.replace(/, and recycle reload after a change$/, ''))?.[1] ?? ''
  const { code, stdout, stderr } = await call(['unit', ...written.split(' ')], { cwd })
  t.equal(code, 0, `recycle ${written}: ${stderr}`)
  return /^ExecStart=\S+ \S+ --name \S+ (.*)$/m.exec(stdout)?.[1].replaceAll(`${folder}/`, '')
}

t.test('in place of a program that starts the app in another process', async t => {
  const by = (/** @type {string} */ pack, /** @type {string} */ args) => follow(String(refuseLauncher(`/x/node_modules/${pack}/cli.js`, args.split(' '), pack)).replace(/^.*; write /, ''))
  t.equal(await by('tsx', 'watch --env-file .env server.ts -v'), '--node-option=--import=tsx --node-option=--env-file=.env server.ts -v')
  t.equal(await by('nodemon', '--watch src -e js app.js --port 1'), 'app.js --port 1')
  t.equal(await by('ts-node-dev', '--respawn server.ts'), '--node-option=--require=ts-node/register server.ts')
  t.equal(await by('cross-env', 'A=1 node app.js a'), 'app.js a')
  t.equal(await by('cross-env', 'A=1 next start'), 'node_modules/next/next.js start')
  t.equal(await by('env-cmd', '-f .env node --inspect app.js'), '--node-option=--inspect app.js')
  t.equal(await by('@dotenvx/dotenvx', 'run -f .env -- node app.js'), 'app.js')
})

t.test('for a start script with flags of node', async t => {
  const { code, stderr } = await call([], { cwd: path.join(folder, 'flagged') })
  t.equal(code, 2)
  t.equal(await follow(stderr.trim(), path.join(folder, 'flagged')), '--node-option=--enable-source-maps --node-option=--require=./app.js --node-option=--env-file=.env app.js --its own')
})

t.test('in place of flags of other supervisors, and of flags behind the app', async t => {
  for (const [flag, { ours }] of Object.entries(FLAGS)) {
    if (!ours) continue
    const { code, stderr } = await call(['--print-config', ...ours(flag === '--max-memory-restart' ? '300M' : '10'), 'app.js'], { cwd: folder })
    t.same([code, stderr], [0, ''], flag)
  }
  const instead = flagsAfterApp('app.js', '--max-rss 200mb -i max --wait-ready --graceful-timeout 30 --port 1'.split(' '))?.instead
  t.equal(await follow(String(instead)), '--workers auto --max-rss 200mb --ready-on message --drain-timeout 30s app.js --port 1')
})

t.test('the commands that are named for those of other supervisors', async t => {
  const named = new Set(Object.values(COMMANDS).flatMap(answer => [...answer.matchAll(/\brecycle (ls|status|top|tail|reload|stop|signal|upgrade|recycle)\b/g)].map(([, word]) => word)))
  t.ok(named.size >= 8)
  for (const word of named) t.match(await call([word, '--help']), { code: 0, stdout: new RegExp(`Usage: recycle ${word}`) })
})

t.test('the examples of a refused value are taken', async t => {
  const refusal = (/** @type {Record<string, any>} */ given) => {
    try {
      const beside = { maxRss: '1MiB', health: '/', canary: '1', ...!given.stopTimeout && { drainTimeout: '3h', readyTimeout: '3h' } }
      resolveOptions({ ...beside, ...given }, { parallelism: 2 })
      return null
    } catch (error) {
      return /** @type {Error} */ (error).message
    }
  }
  let followed = 0
  for (const { name } of OPTIONS) {
    const [, examples] = /such as ([^;]+?)(?:, or an? .*)?$/.exec(refusal({ [name]: 'none!' }) ?? '') ?? []
    for (const example of examples?.split(/, | or /) ?? []) {
      if (/\s/.test(example)) continue
      followed++
      t.equal(refusal({ [name]: example }), null, `${name}: ${example}`)
    }
  }
  t.ok(followed > 40, `${followed} examples`)
})
