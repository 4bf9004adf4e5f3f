'use strict'

const t = require('tap')
const { takeServiceEnvironment } = require('../../lib/core/service-environment')

const NOTHING = { sockets: [], notifySocket: null, watchdogMs: null }

/** @type {[string, Record<string, string>, any][]} */
const CASES = [
  ['without a service manager there is nothing', {}, NOTHING],
  ['sockets begin at descriptor 3, and may have names', { LISTEN_PID: '7', LISTEN_FDS: '3', LISTEN_FDNAMES: 'web:admin' }, { ...NOTHING, sockets: [{ fd: 3, name: 'web' }, { fd: 4, name: 'admin' }, { fd: 5, name: null }] }],
  ['sockets for another process are not taken', { LISTEN_PID: '8', LISTEN_FDS: '1' }, NOTHING],
  ['sockets for no process are not taken', { LISTEN_FDS: '1' }, NOTHING],
  ['what is not a number is nothing', { LISTEN_PID: '7', LISTEN_FDS: '1e9', WATCHDOG_USEC: '-1', NOTIFY_SOCKET: '/n' }, { ...NOTHING, notifySocket: '/n' }],
  ['a watchdog is for this process where no other is named', { WATCHDOG_USEC: '3000000', NOTIFY_SOCKET: '@n' }, { ...NOTHING, notifySocket: '@n', watchdogMs: 3000 }],
  ['a watchdog is for the process that is named', { WATCHDOG_PID: '7', WATCHDOG_USEC: '1500', NOTIFY_SOCKET: '/n' }, { ...NOTHING, notifySocket: '/n', watchdogMs: 1.5 }],
  ['a watchdog of another process is not heeded', { WATCHDOG_PID: '8', WATCHDOG_USEC: '1500', NOTIFY_SOCKET: '/n' }, { ...NOTHING, notifySocket: '/n' }],
  ['a watchdog that hears nothing is none', { WATCHDOG_USEC: '1500' }, NOTHING]
]

for (const [title, variables, expected] of CASES) {
  t.test(title, async t => {
    const env = { PATH: '/bin', ...variables }
    t.same(takeServiceEnvironment(env, 7), expected)
    t.same(env, { PATH: '/bin' }, 'the variables are gone')
  })
}
