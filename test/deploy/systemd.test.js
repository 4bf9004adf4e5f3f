'use strict'

/** The units of examples/deploy/systemd, as they are and under a systemd of the test's own. */

require('../support/bare-children')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: delay } = require('node:timers/promises')
const t = require('tap')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { get } = require('../support/client')
const { BIN, FIXTURES, freePort } = require('../support/fleet')
const { Load } = require('../support/load')
const { lackingSystemd, startSystemd } = require('../support/systemd')
const { lacking } = require('../support/program')

const FOLDER = path.join(__dirname, '..', '..', 'examples', 'deploy', 'systemd')
const SERVICE = fs.readFileSync(path.join(FOLDER, 'shop.service'), 'utf8')
const SOCKET = fs.readFileSync(path.join(FOLDER, 'shop.socket'), 'utf8')
const COMMAND = /\/usr\/local\/bin\/recycle/g

/** @param {string} text @param {[RegExp, string][]} changes each is made at least once */
function change (text, changes) {
  return changes.reduce((before, [what, to]) => {
    const after = before.replace(what, to)
    if (after === before) throw new Error(`there is no ${what}`)
    return after
  }, text)
}

t.test('systemd-analyze finds nothing wrong with the units', { skip: lacking('systemd-analyze') }, async t => {
  const folder = t.testdir({ 'shop.service': change(SERVICE, [[COMMAND, BIN]]), 'shop.socket': SOCKET })
  for (const unit of ['shop.service', 'shop.socket']) {
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path.join(folder, unit)], { encoding: 'utf8' })
    t.same([status, stderr.split('\n').filter(line => line.includes('shop.'))], [0, []], unit)
  }
})

t.test('the command line of the unit is valid, and the stop has the time that its timeouts allow', async t => {
  const [, args] = /** @type {RegExpExecArray} */ (/^ExecStart=\/usr\/local\/bin\/recycle (.*)$/m.exec(SERVICE))
  const { status, stderr } = spawnSync(process.execPath, [BIN, '--print-config', ...args.split(' ')], { encoding: 'utf8' })
  t.same([status, stderr], [0, ''])
  t.notMatch(args, /timeout/, 'they are the defaults')
  t.equal(Number(/^TimeoutStopSec=(\d+)$/m.exec(SERVICE)?.[1]) * 1000, resolveOptions({}, { parallelism: 2 }).stopTimes.totalMs)
})

t.test('under systemd: start, reload, upgrade and restart under load, watchdog, stop', { skip: lackingSystemd() }, async t => {
  const port = await freePort()
  const environment = path.join(t.testdir({ environment: 'COLOUR=red\n' }), 'environment')
  const run = await startSystemd(t, {
    'shop.service': change(SERVICE, [
      [COMMAND, `${process.execPath} ${BIN}`],
      [/--admin \d+ --journal \S+ \S+/, `-w 2 ${path.join(FIXTURES, 'plain.js')}`],
      [/RECYCLE_CONTROL_DIR=\/run/, `PORT=${port} RECYCLE_CONTROL_DIR=%t`],
      // A user's systemd may not do that here
      [/^(?:DynamicUser|LogsDirectory|ProtectHome|NoNewPrivileges|LimitNOFILE)=.*\n/gm, ''],
      [/^WorkingDirectory=.*/m, 'WorkingDirectory=/'],
      [/^WatchdogSec=.*/m, `WatchdogSec=4\nEnvironmentFile=${environment}`]
    ]),
    'shop.socket': change(SOCKET, [[/^ListenStream=.*/m, `ListenStream=${port}`]])
  })
  const systemctl = (/** @type {string[]} */ ...args) => run('systemctl', '--user', ...args)
  const state = async () => Object.fromEntries((await systemctl('show', 'shop.service', '-p', 'ActiveState,SubState,Result,NRestarts,ExecMainStatus,MainPID,StatusText,WatchdogTimestampMonotonic')).split('\n').map(line => line.split(/=(.*)/s)))

  await systemctl('start', 'shop.socket')
  t.match(await get(port), { status: 200 }, 'the first connection starts the service')
  await systemctl('start', 'shop.service')
  t.match(await state(), { SubState: 'running', StatusText: '2 of 2 workers ready, 0 recycles' })

  const loads = [true, false].map(keepAlive => new Load({ port, connections: 5, keepAlive }))
  t.teardown(() => Promise.all(loads.map(load => load.stop())))
  const { MainPID } = await state()
  await systemctl('reload', 'shop.service')
  t.match(await state(), { SubState: 'running', MainPID, StatusText: '2 of 2 workers ready, 2 recycles' })
  await systemctl('kill', '--kill-who=main', '--signal=SIGUSR2', 'shop.service')
  while (await run('test', '-d', `/proc/${MainPID}`).then(() => true, () => false)) await delay(100)
  // A sign of life from then: the new primary, an orphan by now, has named itself again before
  const goneUs = Number(process.hrtime.bigint() / 1000n)
  while (Number((await state()).WatchdogTimestampMonotonic) < goneUs + 1_000_000) await delay(100)
  const upgraded = await state()
  t.not(upgraded.MainPID, MainPID)
  await systemctl('restart', 'shop.service')
  t.not((await state()).MainPID, upgraded.MainPID)
  const counts = await Promise.all(loads.map(load => load.stop()))
  t.same(counts.flatMap(({ failures }) => failures), [], `of ${counts.map(({ requests }) => requests).join(' and ')} requests`)
  t.match(await state(), { SubState: 'running', Result: 'success', NRestarts: '0' })

  const restarted = async (/** @type {string} */ NRestarts) => {
    while (!(await state().then(now => now.NRestarts === NRestarts && now.SubState === 'running'))) await delay(100)
  }
  await systemctl('kill', '--kill-who=main', '--signal=SIGSTOP', 'shop.service')
  t.match(await get(port), { status: 200 }, 'its workers serve')
  await restarted('1')
  t.match(await get(port), { status: 200 })

  const load = new Load({ port, connections: 5, keepAlive: true })
  t.teardown(() => load.stop())
  const slow = get(port, '/slow?ms=2000')
  await get(port, '/slow?ms=500')
  fs.writeFileSync(environment, 'COLOUR=blue\n')
  await systemctl('kill', '--kill-who=main', '--signal=SIGKILL', 'shop.service')
  await restarted('2')
  t.match(await run('cat', `/proc/${(await state()).MainPID}/environ`), '\0COLOUR=blue\0', 'the next supervisor has the changed environment file, without a daemon-reload')
  t.match(await slow, { status: 200 }, 'a worker whose primary is killed finishes what is in flight')
  const { failures, requests } = await load.stop()
  t.same(failures, [], `of ${requests} requests`)

  await systemctl('stop', 'shop.service', 'shop.socket')
  t.match(await state(), { ActiveState: 'inactive', Result: 'success', ExecMainStatus: '0' })
})
