'use strict'

/**
 * What `npm publish` would send: it runs, has no file too many, and its types are right under `tsc --strict`, also in
 * the declarations themselves.
 */

const { execFile } = require('node:child_process')
const fs = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { promisify } = require('node:util')
const t = require('tap')
const ts = require('typescript')
const { configSchema } = require('../config-schema')
const { reportSchema } = require('../report-schema')
const { FIXTURES } = require('../support/fleet')

const run = promisify(execFile)
const ROOT = path.join(__dirname, '..', '..')
const MOST_BYTES = 6 * 1024 ** 2

t.setTimeout(180_000)

/**
 * As `tsc --strict`, of this file and of the declarations in a folder: to check those of Node as well would take most
 * of the time.
 *
 * @param {string} file @param {string} folder
 */
function checkTypes (file, folder) {
  const program = ts.createProgram([file], { strict: true, noEmit: true, module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16, target: ts.ScriptTarget.ES2022, types: ['node'] })
  const files = program.getSourceFiles()
    .filter(({ fileName }) => fileName === file || fileName.startsWith(folder + path.sep))
  const diagnostics = [
    ...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics(),
    ...files.flatMap(source => [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)])
  ]
  const host = { getCurrentDirectory: () => path.dirname(file), getCanonicalFileName: (/** @type {string} */ name) => name, getNewLine: () => '\n' }
  return { checked: files.map(({ fileName }) => fileName), wrong: ts.formatDiagnostics(diagnostics, host) }
}

t.test('the package runs, and its types check', async t => {
  // Else it would find itself by its name
  const folder = t.testdir({ 'package.json': '{"private":true}', node_modules: {} })
  const source = path.join(folder, 'source') // prepack writes types beside the sources
  await run('git', ['clone', '--quiet', ROOT, source])
  for (const file of ['lib', 'test/schema.js', 'test/report-schema.js', 'test/journal-types.js', 'test/message-types.js', 'package.json', 'jsconfig.json', 'jsconfig.build.json']) fs.cpSync(path.join(ROOT, file), path.join(source, file), { recursive: true })
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(source, 'node_modules'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: source, maxBuffer: 32 * 1024 ** 2 })
  const [{ filename, files, size }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
  const names = files.map((/** @type {any} */ { path }) => path)
  for (const needed of ['bin/recycle.js', 'lib/index.js', 'lib/options.d.ts', 'types/lib/index.d.ts', 'types/lib/options.d.ts', 'types/lib/lines.d.ts', 'types/lib/worker/index.d.ts', 'README.md', 'LICENSE']) t.ok(names.includes(needed), needed)
  t.same(names.filter((/** @type {string} */ name) => /^(test|bench|\.)/.test(name)), [], 'nothing of the tests')
  const linesIn = (/** @type {string} */ folder) => fs.readFileSync(path.join(folder, 'lib', 'lines.d.ts'), 'utf8')
  t.equal(linesIn(source), linesIn(ROOT), 'the types of lines are those that lib/ records (npm run schema)')
  t.ok(size < MOST_BYTES, `${size} bytes`)

  await run('tar', ['xzf', filename], { cwd: folder })
  const installed = path.join(folder, 'node_modules', 'recycle-supervisor')
  fs.renameSync(path.join(folder, 'package'), installed)
  for (const name of fs.readdirSync(path.join(ROOT, 'node_modules'))) if (!name.startsWith('.')) fs.symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name))
  const schema = path.join(installed, 'lib', 'core', 'config.schema.json')
  t.same(JSON.parse(fs.readFileSync(schema, 'utf8')), configSchema(), 'the schema of config files is made as it is packed')
  const { resolve } = createRequire(path.join(folder, 'consumer.js'))
  t.equal(resolve('recycle-supervisor/config.schema.json'), schema)
  t.same(require(resolve('recycle-supervisor/report.schema.json')), reportSchema(), 'and the one of reports')
  t.match((await run(process.execPath, [path.join(installed, 'bin', 'recycle.js'), '--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  fs.copyFileSync(path.join(FIXTURES, 'types', 'consumer.ts'), path.join(folder, 'consumer.ts'))
  const { checked, wrong } = checkTypes(path.join(folder, 'consumer.ts'), installed)
  t.equal(wrong, '', 'no error, also in the declarations (no skipLibCheck; those of other packages are left out)')
  for (const name of ['index', 'options', 'lines', 'worker/index', 'primary/supervisor', 'tools/drill/index']) {
    const declarations = fs.readFileSync(path.join(installed, 'types', 'lib', `${name}.d.ts`), 'utf8')
    const isOwn = name === 'tools/drill/index' ? /function drill\(.*?Promise/s : /[^]*/
    t.notMatch(isOwn.exec(declarations.replace(/\/\*\*[^]*?\*\//g, ''))?.[0], /\bany\b/, `${name}: nothing is any`)
  }
  for (const file of ['consumer.ts', 'types/lib/index.d.ts', 'types/lib/options.d.ts', 'types/lib/lines.d.ts', 'types/lib/worker/index.d.ts']) t.ok(checked.some(name => name.endsWith(file)), `${file} was checked`)
})
