'use strict'

/** npm run prebuild:interrupt: compiles the addon that the package carries, as lib/mold/addon/prebuild.js does its own. */

const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { PREBUILT } = require('../interrupt')

const HEADERS = [process.env.npm_config_nodedir, path.dirname(path.dirname(process.execPath)), '/usr'].flatMap(folder => folder === undefined ? [] : path.join(folder, 'include', 'node'))

const source = createHash('sha256').update(fs.readFileSync(path.join(__dirname, 'interrupt.c'))).digest('hex')
const flags = [`-DSOURCE="${source}"`, '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-fPIC', '-shared', '-fvisibility=hidden', '-pthread', '-s', '-Wl,--build-id=none', '-Wl,-z,relro,-z,now']
fs.mkdirSync(path.dirname(PREBUILT), { recursive: true })
const { status, error } = spawnSync(process.env.CC ?? 'cc', [...flags, ...HEADERS.flatMap(folder => ['-I', folder]), 'interrupt.c', '-o', PREBUILT], { cwd: __dirname, stdio: 'inherit' })
if (error) console.error(`the addon cannot be compiled: ${error.message}`)
process.exitCode = status ?? 1
