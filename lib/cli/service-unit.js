'use strict'

/** The text of a systemd service, and of its socket, for one fleet. */

/**
 * @typedef {object} Service
 * @property {string} name of the fleet and of the units
 * @property {string[]} command absolute: Node.js, recycle, and its arguments
 * @property {string} folder working directory
 * @property {string} user @property {Record<string, string>} env
 * @property {string | null} envFile where `env` is kept apart from the unit, which other users may read; null: in it
 * @property {string | null} port that the app listens on, or its host and port; null: not known, so there is no socket
 * @property {Pick<import('../tables/options').Options, 'readyTimeoutMs' | 'drainTimeoutMs' | 'killTimeoutMs' |
 *   'stopTimes'>} timeouts
 */

/** @param {Service} service @returns {{ file: string, text: string }[]} the units, and the file of `envFile` */
function unitsOf ({ name, command, folder, user, env, envFile, port, timeouts }) {
  const [node, recycle] = command
  const given = Object.fromEntries(Object.entries(env).filter(([key]) => port === null || key !== 'PORT'))
  const own = { RECYCLE_CONTROL_DIR: `/run/${name}`, ...port === null ? {} : { PORT: port.replace(/^.*:/, '') } }
  const variables = Object.entries({ ...own, ...envFile === null ? given : {} })
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
    ...envFile === null ? [] : [['EnvironmentFile', escaped(envFile)]],
    ['ExecStart', command.map(word).join(' ')],
    ['ExecReload', [node, recycle, 'reload', '--name', name].map(word).join(' ')],
    ['KillMode', 'process'],
    ['OOMPolicy', 'continue'],
    ['TimeoutStopSec', String(Math.ceil(timeouts.stopTimes.totalMs / 1000))],
    ['WatchdogSec', '30'],
    ['Restart', 'always'],
    ['LimitNOFILE', '65536'],
    ['NoNewPrivileges', 'yes']
  ]) + section('Install', [['WantedBy', 'multi-user.target']])
  const socket = section('Socket', [['ListenStream', String(port)], ['FileDescriptorName', 'web']]) +
    section('Install', [['WantedBy', 'sockets.target']])
  const files = [
    { file: `${name}.service`, text: service }, ...port === null ? [] : [{ file: `${name}.socket`, text: socket }]
  ]
  return envFile === null ? files : [...files, { file: `${name}.env`, text: envText(given) }]
}

/** @param {string} title @param {string[][]} lines */
const section = (title, lines) => `[${title}]\n${lines.map(([key, value]) => `${key}=${value}\n`).join('')}\n`

/** % begins a specifier. @param {string} text */
const escaped = text => text.replaceAll('%', '%%').replaceAll('\n', ' ')

/** A word of a command line, in which $ begins a variable. @param {string} text */
const word = text => quoted(text).replaceAll('$', '$$$$')

/** An assignment of Environment=, or a word without variables. @param {string} text */
function quoted (text) {
  const safe = escaped(text)
  return /^[\w@%+=:,./$-]+$/.test(safe) ? safe : `"${safe.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** The text of an EnvironmentFile, which has no specifiers. @param {Record<string, string>} env */
function envText (env) {
  return Object.entries(env).map(([key, value]) => `${key}="${value.replace(/[\\"`$]/g, '\\$&')}"\n`).join('')
}

module.exports = { unitsOf }
