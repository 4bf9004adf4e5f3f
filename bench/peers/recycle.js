'use strict'

// recycle, with its defaults. Its own options may follow the budget, as `{"handoff":false}`.
const { supervise } = require('../..')

const [, , app, workers, budget, options = '{}'] = process.argv
const fleet = supervise({ app, workers: Number(workers), maxRss: Number(budget), control: 'none', ...JSON.parse(options) })
fleet.ready().catch(error => {
  console.error(error)
  process.exit(1)
})
process.on('SIGTERM', () => fleet.stop({ now: true }).then(() => process.exit()))
