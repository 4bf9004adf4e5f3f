'use strict'

/**
 * npm run prebuild:addon [-- <file>]: compiles the addon that the package carries, with `cc` and the headers of Node, which are
 * on the machine already. The binary names the source that it was made from, so a test can tell when it is an old one.
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { PREBUILT } = require('../addon')
const { SOURCES, sourceHash } = require('./source')

const HEADERS = [process.env.npm_config_nodedir, path.dirname(path.dirname(process.execPath)), '/usr']
  .filter(folder => folder !== undefined).map(folder => path.join(folder, 'include', 'node'))

/** With one compiler the same source gives the same bytes: no path, no date, no build id. */
const SOURCE = sourceHash(__dirname)
const FLAGS = [`-DSOURCE="${SOURCE}"`, '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-fPIC', '-shared', '-fvisibility=hidden', '-s', '-Wl,--build-id=none', '-Wl,-z,relro,-z,now']

const { positionals: [out = PREBUILT] } = require('node:util').parseArgs({ allowPositionals: true })
const headers = HEADERS.find(folder => fs.existsSync(path.join(folder, 'node_api.h')))
if (!headers) {
  console.error(`node_api.h is in none of ${HEADERS.join(', ')}; give the folder above include/node as npm_config_nodedir`)
  process.exit(2)
}
fs.mkdirSync(path.dirname(out), { recursive: true })
const { status, error } = spawnSync(process.env.CC ?? 'cc', [...FLAGS, '-I', headers, ...SOURCES, '-o', path.resolve(out)], { cwd: __dirname, stdio: 'inherit' })
if (error) console.error(`the addon cannot be compiled: ${error.message}`)
process.exitCode = status ?? 1
