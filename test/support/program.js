'use strict'

/** Programs of the system that tests use. Node.js, npm, a shell, coreutils and util-linux are taken as given. */

const fs = require('node:fs')
const path = require('node:path')

/** The package of Debian that has each. */
const PACKAGES = {
  bash: 'bash',
  chromium: 'chromium',
  fish: 'fish',
  'g++': 'g++',
  h2load: 'nghttp2-client',
  haproxy: 'haproxy',
  'musl-gcc': 'musl-tools',
  nginx: 'nginx',
  openssl: 'openssl',
  promtool: 'prometheus',
  'qemu-aarch64-static': 'qemu-user-static',
  'redis-server': 'redis-server',
  script: 'bsdutils',
  '/lib/systemd/systemd': 'systemd',
  '/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1': 'libstdc++6-arm64-cross',
  'systemd-analyze': 'systemd',
  'systemd-notify': 'systemd',
  'systemd-socket-activate': 'systemd',
  tmux: 'tmux',
  wrk: 'wrk',
  zsh: 'zsh'
}

/**
 * The first of these programs that is not here, and its package; null: all are.
 *
 * @param {...keyof typeof PACKAGES} programs
 */
function absent (...programs) {
  const missing = programs.find(program => !pathOf(program))
  return missing ? `there is no ${missing} (Debian: ${PACKAGES[missing]})` : null
}

/**
 * Why a test that uses these programs is skipped; false: it need not be. In CI, where CI=true, its file fails besides:
 * there a program that is missing is a fault of the machine.
 *
 * @param {...keyof typeof PACKAGES} programs
 * @returns {string | false}
 */
function lacking (...programs) {
  const reason = absent(...programs)
  if (reason && process.env.CI === 'true') require('tap').fail(`${reason}, and CI=true`)
  return reason ?? false
}

/** Where a program is; undefined: not on the PATH. @param {string} program */
function pathOf (program) {
  return (process.env.PATH ?? '').split(path.delimiter).map(folder => path.resolve(folder, program)).find(file => {
    try {
      fs.accessSync(file, fs.constants.X_OK)
      return fs.statSync(file).isFile()
    } catch {
      return false // not here
    }
  })
}

module.exports = { absent, lacking, pathOf }
