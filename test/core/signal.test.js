'use strict'

const t = require('tap')
const { readSignal } = require('../../lib/primary/commands')

t.test("a signal for the workers' listeners is named with or without its SIG, in any case", async t => {
  t.same(['SIGHUP', 'usr1', 'SigUsr2', 'WINCH'].map(readSignal), ['SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'])
})

t.test('another signal is refused; of those that end a process it is said what does that here', async t => {
  const accepts = 'the signal was given "x"; it takes SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH'
  t.throws(() => readSignal('x'), { code: 'RECYCLE_BAD_OPTION', message: accepts })
  t.throws(() => readSignal(9), { code: 'RECYCLE_BAD_OPTION' })
  for (const given of ['TERM', 'SIGINT', 'kill', 'QUIT']) {
    t.throws(() => readSignal(given), { message: accepts.replace('x', given) + '; recycle stop ends the fleet, and recycle recycle <slot> replaces a worker' })
  }
  t.throws(() => readSignal('x'), { message: /SIGWINCH$/ })
})
