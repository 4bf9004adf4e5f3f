'use strict'

// recycle, with its defaults. After the budget comes `reload`, which reloads repeatedly, or options as `{"handoff":false}`.
const { supervise } = require('../..')

const PAUSE_MS = 1000 // as in pm2.js

const [, , app, workers, budget, what = '{}'] = process.argv
const isReloading = what === 'reload'
const fleet = supervise({ app, workers: Number(workers), maxRss: Number(budget), control: 'none', ...isReloading ? {} : JSON.parse(what) })
fleet.ready().then(() => {
  if (isReloading) setTimeout(reload, PAUSE_MS)
}).catch(error => {
  console.error(error)
  process.exit(1)
})
process.on('SIGTERM', () => fleet.stop({ now: true }).then(() => process.exit()))

function reload () {
  fleet.reload().then(() => setTimeout(reload, PAUSE_MS), error => console.error(error.message)) // refused once it stops
}
