'use strict'

const t = require('tap')
const { takeServiceEnvironment } = require('../../lib/cli/service-environment')
const { ENVIRONMENT } = require('../../lib/features')

const NAMES = Object.keys(ENVIRONMENT)

const UNSET = { NOTIFY_SOCKET: undefined, WATCHDOG_USEC: undefined, WATCHDOG_PID: undefined }
const NOTHING = { sockets: [], variables: UNSET }

/** @type {[string, Record<string, string>, any][]} */
const CASES = [
  ['without a service manager there is nothing', {}, NOTHING],
  ['sockets begin at descriptor 3, and may have names', { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'web:admin' }, { ...NOTHING, sockets: [{ fd: 3, name: 'web' }, { fd: 4, name: 'admin' }, { fd: 5, name: null }] }],
  ['sockets for another process are not taken', { LISTEN_PID: '8', LISTEN_FDS: '1' }, NOTHING],
  ['sockets for no process are not taken', { LISTEN_FDS: '1' }, NOTHING],
  ['what is not a number is nothing', { LISTEN_PID: '7', LISTEN_FDS: '1e9' }, NOTHING],
  ['what features take is theirs', { NOTIFY_SOCKET: '/n', WATCHDOG_PID: '8' }, { ...NOTHING, variables: { ...UNSET, NOTIFY_SOCKET: '/n', WATCHDOG_PID: '8' } }]
]

for (const [title, variables, expected] of CASES) {
  t.test(title, async t => {
    const env = { PATH: '/bin', ...variables }
    t.same(takeServiceEnvironment(env, 7, NAMES), expected)
    t.same(env, { PATH: '/bin' }, 'the variables are gone')
  })
}
