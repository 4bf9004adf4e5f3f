'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const t = require('tap')
const { BIN, FIXTURES, startCli } = require('../support/fleet')
const { becomesTrue, processes, runToEnd } = require('../support/processes')
const { lacking } = require('../support/program')
const { Terminal } = require('../support/terminal')

const skip = lacking('tmux', 'bash')

/** A socket's path must be short. @param {any} t */
function folder (t) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'top-'))
  t.teardown(() => fs.rmSync(dir, { recursive: true }))
  return dir
}

/** @param {any} t @param {string} dir @param {number} workers */
async function startFleet (t, dir, workers) {
  const control = path.join(dir, 'control.sock')
  const fleet = await startCli(t, ['-w', String(workers), '-i', '100ms', '-m', '1G', '--control', control, path.join(FIXTURES, 'plain.js')])
  t.teardown(() => { if (!t.passing()) t.comment(fleet.said.join('\n')) })
  await fleet.events.until('worker.ready', { count: workers })
  return { ...fleet, control }
}

/**
 * A shell that runs `recycle top`, then prints its exit code and the modes of the terminal.
 *
 * @param {any} t @param {string} dir @param {string} control @param {Record<string, any>} [how]
 */
async function startTop (t, dir, control, how = {}) {
  const script = path.join(dir, 'top.sh')
  const pidFile = path.join(dir, 'pid')
  fs.rmSync(pidFile, { force: true })
  fs.writeFileSync(script, `echo before
sh -c 'echo $$ > ${pidFile}; exec ${process.execPath} ${BIN} top --control ${control}'
echo "exit code $?, $(stty -a | grep -ow '[-]*icanon'), $(stty -a | grep -ow '[-]*echo')"
exec sleep 1000
`)
  const terminal = new Terminal(t, ['bash', script], how)
  await terminal.until(/\bq quit\b/)
  return { terminal, pid: Number(fs.readFileSync(pidFile, 'utf8')) }
}

/**
 * The terminal is restored: screen, cursor, line mode, echo.
 *
 * @param {any} t @param {Terminal} terminal @param {number} code
 */
async function isRestored (t, terminal, code) {
  const screen = await terminal.until(/exit code \d+/)
  t.match(screen, /^before$/m, 'the former screen is back')
  t.match(screen, new RegExp(`^exit code ${code}, icanon, echo$`, 'm'), 'line mode and echo')
  t.equal(terminal.ask('alternate_on'), '0', 'no alternate screen')
  t.equal(terminal.ask('cursor_flag'), '1', 'a cursor')
  return screen
}

t.test('the fleet, live', { skip }, async t => {
  const dir = folder(t)
  const { control, events, child } = await startFleet(t, dir, 3)
  const { terminal } = await startTop(t, dir, control)
  const pids = events.all('worker.ready').sort((a, b) => a.slot - b.slot).map(line => line.pid)
  const pidOf = (/** @type {string} */ screen, /** @type {number} */ slot) => Number(new RegExp(`^[▸ ] ${slot} +(\\d+) ready`, 'm').exec(screen)?.[1])

  await t.test('80 × 24 have room for every column', async t => {
    const screen = await terminal.until(/^▸ 0 .*[▁▂]/m)
    t.match(screen, /^plain {2}pid \d+ {2}http:\/\/localhost:\d+ {2}\/\S+$/m)
    t.match(screen, /^3 of 3 workers ready, [\d.]+ MiB RSS, 0 recycles, \d+ requests\/s$/m)
    t.match(screen, /^ +# +pid state +age +MiB +last min +CPU +ELU +conn +fly +reqs +rec +last$/m)
    for (const slot of [0, 1, 2]) t.equal(pidOf(screen, slot), pids[slot])
    t.match(screen, /^ {2}1 +\d+ ready +\d+s \d+\/\d+ +▁+ +(–|\d+%) +\.\d\d +0 +0 +0 +0$/m)
    await terminal.until(/^\d\d:\d\d:\d\d ready slot 2 \(\d+\) in /m)
    t.equal(terminal.ask('alternate_on'), '1')
    t.equal(terminal.ask('cursor_flag'), '0')
  })

  await t.test('the arrow keys select, r recycles the selected worker', async t => {
    terminal.press('Down')
    await terminal.until(/^▸ 1 /m)
    terminal.press('Down', 'Down', 'Down')
    await terminal.until(/^▸ 2 /m)
    terminal.press('Up')
    await terminal.until(/^▸ 1 /m)
    terminal.press('r')
    const { oldPid, pid } = await events.until('recycled', { where: line => line.slot === 1 && line.reason === 'requested' })
    t.equal(oldPid, pids[1])
    await terminal.until(/q quit .* recycled slot 1$/)
    await terminal.until(/^\d\d:\d\d:\d\d recycled slot 1, \d+ → \d+ \(requested\)/m)
    const screen = await terminal.until(/^▸ 1 .* 1 +requested$/m) // the selection stays with the slot
    t.equal(pidOf(screen, 1), pid)
    await terminal.until(/, 1 recycle,/)
    t.equal(events.all('recycled').length, 1)
  })

  await t.test('the picture follows the size of the terminal', async t => {
    for (const [columns, rows] of [[120, 30], [60, 12], [20, 5], [80, 24]]) {
      terminal.resize(columns, rows)
      const screen = await terminal.until(screen => {
        const lines = screen.split('\n')
        return lines.length === rows && lines[rows - 1].startsWith('q quit') && lines[0].startsWith('plain  pid')
      })
      t.ok(screen.split('\n').every(line => line.length <= columns), `${columns} × ${rows}`)
    }
  })

  await t.test('when the fleet does not answer, top says so', async t => {
    child.kill('SIGSTOP')
    t.match(await terminal.until(/^no answer for \d+s$/m), /^▸ 1 /m, 'the last known figures stay on the screen')
    child.kill('SIGCONT')
    await terminal.until(/^3 of 3 workers ready/m)
  })

  await t.test('q quits', async t => {
    terminal.press('q')
    await isRestored(t, terminal, 0)
    t.equal(events.all('fleet.stopping').length, 0, 'the fleet stays in service')
  })

  for (const [signal, code] of /** @type {[NodeJS.Signals, number][]} */ ([['SIGTERM', 143], ['SIGINT', 130], ['SIGHUP', 129]])) {
    await t.test(`killed by ${signal}, it restores the terminal`, async t => {
      const { terminal, pid } = await startTop(t, dir, control)
      process.kill(pid, signal)
      await isRestored(t, terminal, code)
    })
  }

  await t.test('Ctrl-C quits', async t => {
    const { terminal } = await startTop(t, dir, control)
    terminal.press('C-c')
    await isRestored(t, terminal, 0)
  })

  await t.test('an error restores the terminal, and is printed after that', async t => {
    const broken = path.join(dir, 'broken.js')
    fs.writeFileSync(broken, "process.on('SIGUSR2', () => { throw new Error('on purpose') })")
    const { terminal, pid } = await startTop(t, dir, control, { env: { NODE_OPTIONS: `--require ${broken}` } })
    process.kill(pid, 'SIGUSR2')
    t.match(await isRestored(t, terminal, 1), 'Error: on purpose')
  })

  await t.test('Ctrl-Z restores the terminal until top is continued', async t => {
    const terminal = new Terminal(t, ['bash', '--norc', '--noprofile'], { env: { PS1: 'shell> ' } })
    terminal.type(`${process.execPath} ${BIN} top --control ${control}`)
    terminal.press('Enter')
    await terminal.until(/\bq quit\b/)
    terminal.press('C-z')
    await terminal.until(/^\[1\]\+ +Stopped/m)
    t.ok(await becomesTrue(() => terminal.ask('cursor_flag') === '1' && terminal.ask('alternate_on') === '0'))
    terminal.type('fg')
    terminal.press('Enter')
    await terminal.until(/\bq quit\b/)
    t.equal(terminal.ask('alternate_on'), '1')
    terminal.press('q')
    await terminal.until(screen => /fg\n/.test(screen) && !/q quit/.test(screen))
  })

  await t.test('when its terminal closes, top exits', async t => {
    const { terminal, pid } = await startTop(t, dir, control)
    terminal.close()
    t.ok(await becomesTrue(() => !processes().some(process => process.pid === pid)))
  })

  await t.test('when the fleet stops, top says so and exits', async t => {
    const { terminal } = await startTop(t, dir, control)
    child.kill('SIGTERM')
    t.match(await isRestored(t, terminal, 0), /^The fleet plain has stopped$/m)
  })
})

t.test('when the fleet dies, top says so and exits', { skip }, async t => {
  const dir = folder(t)
  const { control, child } = await startFleet(t, dir, 1)
  const { terminal } = await startTop(t, dir, control)
  child.kill('SIGKILL')
  t.match(await isRestored(t, terminal, 1), /^recycle: the fleet plain is gone$/m)
})

t.test('without a terminal, top gives one sentence and exit code 2', async t => {
  t.same(await runToEnd([process.execPath, BIN, 'top']), {
    code: 2, signal: null, stdout: '', stderr: 'recycle: recycle top needs a terminal; recycle status prints the same once\n'
  })
})

t.test('without a fleet, top says so and does not touch the terminal', { skip }, async t => {
  const dir = folder(t)
  const terminal = new Terminal(t, ['sh', '-c', `${process.execPath} ${BIN} top --control ${dir}/none; echo "exit code $?"; exec sleep 1000`], { columns: 200 })
  t.match(await terminal.until(/exit code \d/), /^recycle: no fleet answers at .*\/none: there is no such socket\nexit code 2$/)
})
