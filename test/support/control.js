'use strict'

/** Fleets with a control socket, each test's in a folder of its own, and the command line for them. */

const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { call } = require('./calls')
const { startCli, BIN } = require('./fleet')
const { runToEnd } = require('./processes')

/** A folder whose path is short enough for unix sockets. @param {any} t tap's */
function shortFolder (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'rc-'))
  t.teardown(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * A place of its own for control sockets.
 *
 * @param {any} t tap's
 */
function controlRoom (t) {
  const folder = path.join(shortFolder(t), 'sockets')
  const env = { RECYCLE_CONTROL_DIR: folder, RECYCLE_CONTROL: '' }
  return {
    folder,
    env,
    /**
     * How many clients are connected to the sockets there: each is bound by a name of its own, which is then changed.
     */
    clients: () => fs.readFileSync('/proc/net/unix', 'utf8').split('\n').filter(line => line.includes(' 03 ') && line.includes(`${folder}/`)).length,
    /** `recycle …`, to its end. @param {string[]} args @param {Record<string, string>} [more] */
    recycle: (args, more) => runToEnd([process.execPath, BIN, ...args], { env: { ...env, ...more } }),
    /** As recycle(), by the process of all calls. @param {string[]} args @param {Record<string, string>} [more] */
    call: (args, more) => call(args, { env: { ...env, ...more } }),
    /**
     * A fleet by the command line, every worker ready.
     *
     * @param {number} workers @param {string[]} args @param {Record<string, string>} [more]
     */
    async start (workers, args, more) {
      const cli = await startCli(t, ['-w', String(workers), '-i', '100ms', '--stop-linger', '100ms', ...args], { env: { ...env, ...more } })
      await cli.events.until('worker.ready', { count: workers })
      return cli
    }
  }
}

/**
 * A client of a unix socket that sends any text.
 *
 * @param {any} t tap's
 * @param {string} file
 */
async function rawClient (t, file) {
  const socket = net.connect({ path: file })
  t.teardown(() => socket.destroy())
  /** @type {any[]} */
  const heard = []
  let rest = ''
  socket.setEncoding('utf8').on('data', text => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) heard.push(JSON.parse(line))
    socket.emit('heard')
  })
  socket.on('error', () => {})
  const closed = new Promise(resolve => socket.once('close', resolve))
  /** The first line received that matches, now or later. @param {(line: any) => boolean} fits */
  const until = async fits => {
    for (;;) {
      const found = heard.find(fits)
      if (found) return found
      if (socket.destroyed) throw new Error(`closed; heard ${JSON.stringify(heard)}`)
      await Promise.race([once(socket, 'heard'), closed])
    }
  }
  await until(line => line.hello || line.error)
  return { socket, heard, closed, until }
}

module.exports = { shortFolder, controlRoom, rawClient }
