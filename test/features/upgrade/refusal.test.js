'use strict'

const t = require('tap')
const { whyNoUpgrade } = require('../../../lib/features/upgrade/verb')

t.test('why a process cannot leave its fleet to another one', async t => {
  const why = (/** @type {any} */ about) => whyNoUpgrade({ pid: 4711, startedBy: 4000, init: 'systemd', env: {}, ...about })
  t.equal(why({}), null)
  t.match(why({ pid: 1, startedBy: 0 }), /^recycle is PID 1, and the container ends with it/)
  t.match(why({ startedBy: 1, init: 'tini' }), /^tini, the init of this container, ends with the process that it has started/)
  t.equal(why({ startedBy: 1 }), null, 'systemd, or an orphan')
  t.equal(why({ startedBy: 1, init: null }), null)
  t.equal(why({ startedBy: 4000, init: 'tini' }), null, 'a shell in between')
  t.match(why({ startedBy: 1, env: { SYSTEMD_EXEC_PID: '4711' } }), /Type=notify and NotifyAccess=all/)
  t.equal(why({ startedBy: 1, env: { SYSTEMD_EXEC_PID: '4711', NOTIFY_SOCKET: '/run/systemd/notify' } }), null)
  t.equal(why({ env: { SYSTEMD_EXEC_PID: '4000' } }), null, 'of the shell that has started it')
})
