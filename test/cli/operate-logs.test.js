'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const readline = require('node:readline')
const t = require('tap')
const { controlRoom } = require('../support/control')
const { BIN, FIXTURES, freePort } = require('../support/fleet')
const { becomesTrue } = require('../support/processes')

t.test('recycle logs follows the file that a fleet prints to, and says where else its output goes', async t => {
  const room = controlRoom(t)
  const file = path.join(t.testdir({ 'out.log': '' }), 'out.log')
  const start = async (/** @type {string} */ name, /** @type {any} */ stdio) => {
    const env = { ...process.env, ...room.env, PORT: String(await freePort()) }
    const fleet = spawn(process.execPath, [BIN, '--name', name, '-w', '1', '--stop-linger', '0', '--orphan-timeout', '0', path.join(FIXTURES, 'plain.js')], { env, stdio })
    t.teardown(() => fleet.kill('SIGKILL'))
    t.ok(await becomesTrue(() => fs.existsSync(path.join(room.folder, `${name}.sock`))))
    return fleet
  }
  const fd = fs.openSync(file, 'a')
  const fleet = await start('api', ['ignore', fd, fd])
  await start('piped', ['ignore', 'pipe', 'pipe'])

  const logs = spawn(process.execPath, [BIN, 'logs', 'api', '-n', '1000'], { env: { ...process.env, ...room.env }, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = readline.createInterface({ input: logs.stdout })[Symbol.asyncIterator]()
  t.match((await lines.next()).value, '"event":"fleet.start"', 'from its first line on')
  const printed = await room.recycle(['logs', 'api', '-n', '1000', '--no-follow'])
  t.match(printed, { code: 0, stdout: /"event":"fleet.start"/ }, 'or ends')
  fleet.kill('SIGTERM')
  for (let line = ''; !line.includes('"event":"fleet.stop"');) line = (await lines.next()).value
  logs.kill('SIGINT')
  t.same(await once(logs, 'exit'), [null, 'SIGINT'])

  t.match(await room.recycle(['logs', 'piped']), { code: 2, stdout: '', stderr: /^recycle: the output of piped cannot be followed: it goes to a pipe, and its reader has it: [^\n]*\n$/ })
  t.match(await room.recycle(['logs', 'piped', '-n', 'all']), { code: 2, stderr: 'recycle: --last was given "all"; it takes a whole number\n' })
})
