'use strict'

/** What `npm publish` would send: it runs, has no file too many, and its types are right under `tsc --strict`, also in the declarations themselves. */

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { promisify } = require('node:util')
const t = require('tap')
const { FIXTURES } = require('../support/fleet')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '..', '..')
const MOST_BYTES = 6 * 1024 ** 2

t.setTimeout(180_000)

t.test('the package runs, and its types check', async t => {
  const folder = t.testdir({ 'package.json': '{"private":true}', node_modules: {} }) // else it would find itself by its name
  const source = path.join(folder, 'source') // prepack writes types beside the sources
  await run('git', ['clone', '--quiet', ROOT, source])
  for (const file of ['lib', 'package.json', 'jsconfig.json', 'jsconfig.build.json']) fs.cpSync(path.join(ROOT, file), path.join(source, file), { recursive: true })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(source, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source, maxBuffer: 32 * 1024 ** 2 })
  const [{ filename, files, size }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  const names = files.map((/** @type {any} */ { path }) => path)
  for (const needed of ['bin/recycle.js', 'lib/index.js', 'lib/options.d.ts', 'types/lib/index.d.ts', 'types/lib/options.d.ts', 'types/lib/worker/index.d.ts', 'README.md', 'LICENSE']) t.ok(names.includes(needed), needed)
  t.same(names.filter((/** @type {string} */ name) => /^(test|bench|\.)/.test(name)), [], 'nothing of the tests')
  t.ok(size < MOST_BYTES, `${size} bytes`)

  await run('tar', ['xzf', filename], { cwd: folder })
  const installed = path.join(folder, 'node_modules', 'recycle-supervisor')
  fs.renameSync(path.join(folder, 'package'), installed)
  for (const name of fs.readdirSync(path.join(ROOT, 'node_modules'))) if (!name.startsWith('.')) fs.symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name))
  t.match((await run(process.execPath, [path.join(installed, 'bin', 'recycle.js'), '--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  fs.copyFileSync(path.join(FIXTURES, 'types', 'consumer.ts'), path.join(folder, 'consumer.ts'))
  const { stdout: wrong } = await run(process.execPath, [path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '--strict', '--noEmit', '--skipDefaultLibCheck', '--module', 'node16', '--moduleResolution', 'node16', '--target', 'es2022', '--types', 'node', 'consumer.ts'], { cwd: folder }).catch(error => error)
  t.equal(wrong, '', 'no error, also in the declarations (no skipLibCheck; those of TypeScript itself are left out)')
})
