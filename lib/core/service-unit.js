'use strict'

/** The text of a systemd service, and of its socket, for one fleet. */

/**
 * @typedef {object} Service
 * @property {string} name of the fleet and of the units
 * @property {string[]} command absolute: Node.js, recycle, and its arguments
 * @property {string} folder working directory
 * @property {string} user
 * @property {Record<string, string>} env
 * @property {string | null} port that the app listens on; null: not known, so there is no socket
 * @property {Pick<import('./options').Options, 'readyTimeoutMs' | 'drainTimeoutMs' | 'killTimeoutMs' | 'stopTimes'>}
 *   timeouts
 */

/** @param {Service} service @returns {{ file: string, text: string }[]} the units */
function unitsOf ({ name, command, folder, user, env, port, timeouts }) {
  const [node, recycle] = command
  const variables = Object.entries({ RECYCLE_CONTROL_DIR: `/run/${name}`, ...port === null ? {} : { PORT: port }, ...env })
  const service = section('Unit', [
    ['Description', `${escaped(name)}, a Node.js app on recycle`],
    ...port === null ? [] : [['Requires', `${name}.socket`]],
    ['After', `${port === null ? '' : `${name}.socket `}network.target`]
  ]) + section('Service', [
    ['Type', 'notify'],
    ['NotifyAccess', 'all'],
    ['User', user],
    ['WorkingDirectory', escaped(folder)],
    ['RuntimeDirectory', name],
    ['RuntimeDirectoryMode', '0700'],
    ...variables.map(([key, value]) => ['Environment', quoted(`${key}=${value}`)]),
    ['ExecStart', command.map(quoted).join(' ')],
    ['ExecReload', [node, recycle, 'reload', '--name', name].map(quoted).join(' ')],
    ['KillMode', 'mixed'],
    ['OOMPolicy', 'continue'],
    ['TimeoutStopSec', String(Math.ceil(timeouts.stopTimes.totalMs / 1000))],
    ['WatchdogSec', '30'],
    ['Restart', 'always'],
    ['LimitNOFILE', '65536'],
    ['NoNewPrivileges', 'yes']
  ]) + section('Install', [['WantedBy', 'multi-user.target']])
  const socket = section('Socket', [['ListenStream', String(port)], ['FileDescriptorName', 'web']]) + section('Install', [['WantedBy', 'sockets.target']])
  return [{ file: `${name}.service`, text: service }, ...port === null ? [] : [{ file: `${name}.socket`, text: socket }]]
}

/** @param {string} title @param {string[][]} lines */
function section (title, lines) {
  return `[${title}]\n${lines.map(([key, value]) => `${key}=${value}\n`).join('')}\n`
}

/** % begins a specifier. @param {string} text */
function escaped (text) {
  return text.replaceAll('%', '%%').replaceAll('\n', ' ')
}

/** A word of a command line or of Environment=. @param {string} word */
function quoted (word) {
  const text = escaped(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `"${text}"`
}

module.exports = { unitsOf }
