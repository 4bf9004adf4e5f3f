'use strict'

const { spawnSync } = require('node:child_process')
const t = require('tap')

/** A test file on a machine without programs. @param {Record<string, string>} [env] */
function run (env) {
  const file = `const t = require('tap'); t.test('one that needs it', { skip: require(${JSON.stringify(require.resolve('./program'))}).lacking('wrk', 'zsh') }, async () => {})`
  return spawnSync(process.execPath, ['-e', file], { env: { PATH: '/nowhere', ...env }, encoding: 'utf8' })
}

t.test('a test whose program is missing is skipped, by one line that names the package; in CI its file fails', async t => {
  const { status, stdout } = run()
  t.equal(status, 0)
  t.match(stdout, /^ok 1 - one that needs it # SKIP there is no wrk \(Debian: wrk\)$/m)
  const inCi = run({ CI: 'true' })
  t.equal(inCi.status, 1)
  t.match(inCi.stdout, /^not ok 1 - there is no wrk \(Debian: wrk\), and CI=true$/m)
})
