'use strict'

const { EventEmitter } = require('node:events')
const t = require('tap')
const { operate } = require('../../../lib/features/systemd/feature')

/** What it opens; no message is sent. @param {Record<string, string>} variables */
async function opened (variables) {
  const supervisor = Object.assign(new EventEmitter(), { options: {} })
  const notifier = /** @type {any} */ (operate?.(variables, /** @type {any} */ (supervisor), { readiness: () => /** @type {any} */ ({}), leads: 'fleet.upgraded' }) ?? null)
  const watchdogMs = notifier?.watchdog ? 2 * notifier.watchdog._repeat : null
  await notifier?.leave()
  t.equal(supervisor.listenerCount('event'), 0)
  return notifier && { notifySocket: notifier.notifySocket, watchdogMs }
}

const US = '3000000'

for (const [title, variables, expected] of /** @type {[string, Record<string, string>, any][]} */ ([
  ['nothing is told where it is not asked for', {}, null],
  ['a watchdog that hears nothing is none', { WATCHDOG_USEC: US }, null],
  ['it is told where it listens', { NOTIFY_SOCKET: '/n' }, { notifySocket: '/n', watchdogMs: null }],
  ['a watchdog is for this process where no other is named', { NOTIFY_SOCKET: '@n', WATCHDOG_USEC: US }, { notifySocket: '@n', watchdogMs: 3000 }],
  ['a watchdog is for the process that is named', { NOTIFY_SOCKET: '/n', WATCHDOG_USEC: US, WATCHDOG_PID: String(process.pid) }, { notifySocket: '/n', watchdogMs: 3000 }],
  ['a watchdog of another process is not heeded', { NOTIFY_SOCKET: '/n', WATCHDOG_USEC: US, WATCHDOG_PID: '1' }, { notifySocket: '/n', watchdogMs: null }],
  ['a time that is no number is none', { NOTIFY_SOCKET: '/n', WATCHDOG_USEC: '-1' }, { notifySocket: '/n', watchdogMs: null }]
])) t.test(title, async t => t.same(await opened(variables), expected))
