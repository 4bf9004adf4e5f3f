'use strict'

// recycle, with its defaults. After the budget comes `reload` or `reload-forked`, which reload repeatedly, `once`, a
// reload at SIGUSR2, or options as `{"handoff":false}`.
const { supervise } = require('../..')

const PAUSE_MS = 1000 // as in pm2.js

const [, , app, workers, budget, what = '{}'] = process.argv
const isReloading = what.startsWith('reload') || what === 'once'
const fleet = supervise({ app, workers: Number(workers), maxRss: Number(budget), control: 'none', ...isReloading ? what === 'reload-forked' && { fork: 'mold', warm: 200 } : JSON.parse(what) })
fleet.ready().then(() => {
  if (what.startsWith('reload')) setTimeout(reload, PAUSE_MS)
}).catch(error => {
  console.error(error)
  process.exit(1)
})
if (what === 'once') process.on('SIGUSR2', () => fleet.reload().then(() => console.log('\nreloaded')))
process.on('SIGTERM', () => fleet.stop({ now: true }).then(() => process.exit()))

function reload () {
  // Refused once it stops
  fleet.reload().then(() => setTimeout(reload, PAUSE_MS), error => console.error(error.message))
}
