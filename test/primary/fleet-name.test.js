'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { nameOfApp } = require('../../lib/primary/fleet-name')

t.test('a fleet is named after the file of its app', async t => {
  t.equal(nameOfApp('/srv/shop/checkout.js'), 'checkout')
  t.equal(nameOfApp('/srv/shop/check.out.mjs'), 'check.out')
  t.equal(nameOfApp('/srv/shop/checkout'), 'checkout')
  t.equal(nameOfApp('/srv/shop/.checkout'), 'checkout')
  t.equal(nameOfApp('/srv/shop/Bücher & mehr.js'), 'B-cher-mehr')
  t.equal(nameOfApp(`/srv/${'x'.repeat(100)}.js`), 'x'.repeat(64))
  t.equal(nameOfApp('/srv/店.js'), 'app')
})

t.test('where the file name is generic, after its package, or else its folder', async t => {
  const dir = t.testdir({
    shop: { 'package.json': '{"name":"@acme/shop"}', dist: {} },
    broken: { 'package.json': '{', sub: { 'package.json': '"text"' } },
    nameless: { 'package.json': '{"version":"1.0.0"}' }
  })
  for (const file of ['index.js', 'server.mjs', 'app.ts', 'main.js', 'dist/index.js', 'www']) t.equal(nameOfApp(path.join(dir, 'shop', file)), 'shop', file)
  t.equal(nameOfApp('/nonexistent/commands/server.js'), 'commands')
  t.equal(nameOfApp('/nonexistent/shop/bin/www'), 'shop', 'nor does bin say anything')
  t.equal(nameOfApp('/nonexistent/shop/current/server.js'), 'shop', 'a link to a release')
  t.equal(nameOfApp('/nonexistent/shop/node_modules/.bin/server'), 'shop')
  t.equal(nameOfApp('/server.js'), 'app')
  // Above these is this project's own package.json.
  for (const folder of ['broken', 'broken/sub', 'nameless']) t.equal(nameOfApp(path.join(dir, folder, 'index.js')), 'recycle-supervisor')
})

t.test('the name stays where a link leads to another release, and a folder has that of its main file', async t => {
  const dir = t.testdir({
    shop: { releases: { 1: { 'server.js': '' } }, current: t.fixture('symlink', 'releases/1') },
    main: { 'package.json': '{"main":"till.js"}', 'till.js': '' }
  })
  const alone = fs.mkdtempSync(path.join(os.tmpdir(), 'shop-'))
  t.teardown(() => fs.rmSync(alone, { recursive: true }))
  fs.cpSync(path.join(dir, 'shop'), path.join(alone, 'shop'), { recursive: true, verbatimSymlinks: true })
  for (const file of ['server.js', 'server']) t.equal(nameOfApp(path.join(alone, 'shop/current', file)), 'shop', file)
  t.equal(nameOfApp(path.join(dir, 'main')), 'till')
})

t.test('a program of a package is named after its package', async t => {
  const dir = t.testdir({
    'package.json': '{"name":"shop"}',
    node_modules: {
      'json-server': { 'package.json': '{"name":"json-server"}', lib: { 'bin.js': '' } },
      '@acme': { runner: { 'package.json': '{"name":"@acme/runner"}', dist: { 'package.json': '{"type":"module"}', 'launch.js': '' } } },
      '.bin': { serve: '' }
    }
  })
  t.equal(nameOfApp(path.join(dir, 'node_modules/json-server/lib/bin.js')), 'json-server')
  t.equal(nameOfApp(path.join(dir, 'node_modules/@acme/runner/dist/launch.js')), 'runner')
  t.equal(nameOfApp(path.join(dir, 'node_modules/.bin/serve')), 'serve', 'where the link is a file')
})
