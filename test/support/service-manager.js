'use strict'

/** What systemd does for a service, by systemd's own programs: it passes sockets, and hears notifications. */

require('./bare-children')
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { Events, startCli } = require('./fleet')
const { becomesTrue } = require('./processes')
const { lacking } = require('./program')

const ACTIVATE = 'systemd-socket-activate'
const PASSED_ON = ['PORT', 'PORT_2', 'SOCKET', 'RECYCLE_CONTROL', 'NOTIFY_SOCKET', 'WATCHDOG_USEC', 'TMPDIR', 'XDG_RUNTIME_DIR', 'NEXT']
/**
 * A program that keeps the sockets, and starts the service anew when it has ended, as systemd does; with NEXT, a FIFO,
 * when a line comes from it.
 */
const KEEPER = 'while :; do sh -c \'LISTEN_PID=$$ exec "$@"\' service "$@" || exit; [ -z "$NEXT" ] || read -r _ <"$NEXT"; done'

/** Why tests with it are skipped; false: it is there. */
const skip = lacking(ACTIVATE, 'systemd-notify')

/**
 * A fleet that starts at the first connection to one of its sockets.
 *
 * @param {any} t tap's
 * @param {string[]} args of recycle
 * @param {object} how
 * @param {(port: number) => (number | string)[]} how.sockets ports, addresses and paths
 * @param {string[]} [how.names]
 * @param {boolean} [how.keeps] it is started again when it has ended
 * @param {Record<string, string>} [how.env]
 */
async function startActivated (t, args, { sockets, names = [], keeps = false, env }) {
  const fleet = await startCli(t, args, {
    env,
    under: port => [
      ACTIVATE, ...sockets(port).flatMap(socket => ['-l', String(socket)]), ...names.length > 0 ? [`--fdname=${names.join(':')}`] : [],
      ...PASSED_ON.flatMap(name => ['-E', name]), ...keeps ? ['sh', '-c', KEEPER, 'keeper'] : []
    ]
  })
  if (!await becomesTrue(() => fleet.said.filter(text => text.startsWith('Listening on')).length === sockets(fleet.port).length)) throw new Error(fleet.said.join('\n'))
  return {
    ...fleet,
    /** Stops the fleet that was started last, and its keeper. */
    async end () {
      fleet.child.kill('SIGKILL')
      if (keeps) process.kill(fleet.events.all('fleet.start').at(-1)?.pid, 'SIGTERM')
      await fleet.exited
    }
  }
}

/**
 * A datagram socket that hears what a service says by sd_notify(3).
 *
 * @param {any} t tap's
 * @returns {Promise<{ notifySocket: string, heard: Events }>} `heard`: an event for each message, its name is the state
 *   (READY, RELOADING, STOPPING, MAINPID, WATCHDOG, …) and its fields are the assignments
 */
async function startListener (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-'))
  const notifySocket = path.join(folder, 'notify')
  // Each read of dd takes one datagram.
  const child = spawn(ACTIVATE, ['--datagram', '-l', notifySocket, 'sh', '-c', 'while dd bs=64k count=1 status=none <&3 >&2; do echo >&2; echo . >&2; done'], { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  const exited = new Promise(resolve => child.once('close', resolve))
  t.teardown(async () => {
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await exited
    fs.rmSync(folder, { recursive: true, force: true })
  })
  const heard = new Events()
  /** @type {Record<string, string>} */
  let message = {}
  await new Promise(resolve => readline.createInterface({ input: child.stderr }).on('line', text => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(text) ?? []
    if (name) message[name] = value
    if (text.startsWith('Listening on')) resolve(undefined)
    if (text !== '.') return
    heard.push({ event: ['MAINPID', 'READY', 'RELOADING', 'STOPPING', 'WATCHDOG', 'EXTEND_TIMEOUT_USEC', 'STATUS'].find(name => name in message), ...message })
    message = {}
  }))
  return { notifySocket, heard }
}

module.exports = { startActivated, startListener, skip }
