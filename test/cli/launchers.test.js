'use strict'

const t = require('tap')
const { refuseLauncher } = require('../../lib/cli/launchers')

t.test('packages that start the app in another process, and what to write instead', async t => {
  const instead = (/** @type {string} */ file, /** @type {string[]} */ ...args) => refuseLauncher(file, args, 'x')?.replace(/^.*; write /, '') ?? null
  const by = (/** @type {string} */ pack, /** @type {string} */ call) => instead(`/app/node_modules/${pack}/bin.js`, ...call.split(' '))
  t.equal(by('tsx', 'watch server.ts'), 'recycle --node-option=--import=tsx server.ts')
  t.equal(by('tsx', '--env-file .env server.ts -v'), 'recycle --node-option=--import=tsx --node-option=--env-file=.env server.ts -v')
  t.equal(by('nodemon', 'app.js'), 'recycle app.js, and recycle reload after a change')
  t.equal(by('nodemon', '--watch src -e js,ts app.js --port 1'), 'recycle app.js --port 1, and recycle reload after a change')
  t.equal(by('ts-node-dev', '--respawn -P tsconfig.json server.ts'), 'recycle --node-option=--require=ts-node/register server.ts')
  t.equal(by('cross-env', 'A=1 app.js'), 'x A=1 recycle app.js')
  t.equal(by('cross-env', 'FOO=1 node server.js'), 'x FOO=1 recycle server.js', 'in place of node')
  t.equal(by('cross-env', 'A=1 B=2 node -r dotenv/config --inspect server.js --port 1'), 'x A=1 B=2 recycle --node-option=--require=dotenv/config --node-option=--inspect server.js --port 1')
  t.equal(by('cross-env', 'A=1 next start -p 80'), 'x A=1 recycle next start -p 80', 'before the program')
  t.equal(by('cross-env', 'A=1'), 'recycle <file>, with the file of the server itself')
  t.equal(by('env-cmd', '-f .env node server.js a'), 'x -f .env recycle server.js a')
  t.equal(by('env-cmd', '--silent -e production -- node server.js'), 'x --silent -e production -- recycle server.js')
  t.equal(by('dotenv-cli', '-e .env node server.js'), 'x -e .env recycle server.js')
  t.equal(by('@dotenvx/dotenvx', 'run -- app.js'), 'x run -- recycle app.js')
  t.equal(by('@dotenvx/dotenvx', 'run -f .env node app.js'), 'x run -f .env recycle app.js')
  t.equal(instead('/app/node_modules/cross-env/a.js', 'A=a b', 'app.js'), "x 'A=a b' recycle app.js", 'quoted for the shell')
  t.equal(by('cross-env', 'A=1 node app.js -- --x'), 'x A=1 recycle app.js -- --x', "the app's own --")
  t.equal(by('concurrently', 'a b'), 'recycle <file>, with the file of the server itself')
  t.match(refuseLauncher('/app/node_modules/tsx/dist/cli.mjs', [], 'tsx'), /^tsx starts the app in another process, which recycle could not supervise; write recycle --node-option=--import=tsx <file>$/)
  for (const file of ['/app/server.js', '/app/node_modules/next/dist/bin/next', '/app/node_modules/tsx', '/app/tsx/node_modules/x/y.js']) t.equal(instead(file, 'start'), null, file)
})
