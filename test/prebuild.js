'use strict'

/**
 * npm run prebuild:addon [-- <folder>…]: compiles the addons that the package carries, each for every architecture and
 * C library, with Debian's compilers and the headers of Node, which are on the machine already. A binary names the
 * source that it was made from, so a test can tell when it is an old one.
 */

const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { ARCHS, LIBCS, prebuiltFile } = require('../lib/native/prebuilds')

const PACKAGES = 'gcc-x86-64-linux-gnu gcc-aarch64-linux-gnu libc6-dev-arm64-cross musl-dev musl-dev:arm64'
const MACHINES = /** @type {Record<string, string>} */ ({ x64: 'x86_64', arm64: 'aarch64' })
const NODE = [process.env.npm_config_nodedir, path.dirname(path.dirname(process.execPath)), '/usr']
  .filter(folder => folder !== undefined).map(folder => path.join(folder, 'include', 'node'))
  .find(folder => fs.existsSync(path.join(folder, 'node_api.h')))

/** With one compiler the same source gives the same bytes: no path, date or build id; no C library is linked. */
const FLAGS = [
  '-std=c11', '-O2', '-Wall', '-Wextra', '-Werror', '-fPIC', '-shared', '-nostdlib', '-fvisibility=hidden', '-s',
  '-Wl,--build-id=none', '-Wl,-z,relro,-z,now'
]

/** @param {string} machine @param {string} libc @returns {string[]} flags by which its headers are taken */
function headers (machine, libc) {
  // The kernel's, which musl has not
  const kernel = [`/usr/include/${machine}-linux-gnu`, `/usr/${machine}-linux-gnu/include`, '/usr/include']
  return libc === 'glibc'
    ? []
    : [`-specs=/usr/lib/${machine}-linux-musl/musl-gcc.specs`, ...kernel.flatMap(folder => ['-idirafter', folder])]
}

/** @param {string} folder of the addon @param {string} arch @param {string} libc */
function compile (folder, arch, libc) {
  const file = prebuiltFile(folder, arch, libc)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const flags = [
    ...headers(MACHINES[arch], libc), `-DSOURCE="${sourceHash(folder)}"`, ...FLAGS, '-I', String(NODE),
    ...sourcesOf(folder), '-lgcc', '-o', file
  ]
  const { status, error } = spawnSync(`${MACHINES[arch]}-linux-gnu-gcc`, flags, { cwd: folder, stdio: 'inherit' })
  if (status === 0) return console.log(path.relative(process.cwd(), file))
  console.error(`it cannot be compiled for ${arch} with ${libc}${error ? ` (${error.message})` : ''}; ` +
    `Debian's packages: ${PACKAGES}`)
  process.exit(1)
}

/** @param {string} folder of the addon @returns {string[]} */
const sourcesOf = folder => JSON.parse(fs.readFileSync(path.join(folder, 'binding.gyp'), 'utf8')).targets[0].sources

/** @param {string} folder of the addon @returns {string} in hex */
function sourceHash (folder) {
  const hash = createHash('sha256')
  const headers = fs.readdirSync(folder).filter(file => file.endsWith('.h')).sort()
  for (const file of [...sourcesOf(folder), ...headers]) hash.update(fs.readFileSync(path.join(folder, file)))
  return hash.digest('hex')
}

if (require.main === module) {
  const { positionals } = parseArgs({ allowPositionals: true })
  if (!NODE) {
    console.error('there is no node_api.h; give the folder above include/node as npm_config_nodedir')
    process.exit(2)
  }
  for (const folder of positionals.map(folder => path.resolve(folder))) {
    for (const arch of ARCHS) {
      for (const libc of LIBCS) compile(folder, arch, libc)
    }
  }
}

module.exports = { sourceHash }
