'use strict'

const t = require('tap')
const { placeOf, sayPlace, sayRequests } = require('../../../lib/features/blocked/sentence')

t.test('the place is the innermost one in the code of the app or of its packages', async t => {
  for (const [stack, place] of /** @type {[string[], string | null][]} */ ([
    [['parse (/srv/shop/app.js:12:5)', 'Server.<anonymous> (/srv/shop/app.js:40:3)'], 'parse (app.js:12)'],
    [['JSON.parse (<anonymous>)', 'Object.load (/srv/shop/lib/load.js:7:10)'], 'load (load.js:7)'],
    [['RegExp.test (<anonymous>)', '/srv/shop/a (b)/app.js:3:1'], 'app.js:3'],
    [['node:internal/process/task_queues:95:5', 'async report (file:///srv/shop/report.mjs:9:2)'], 'report (report.mjs:9)'],
    [['deep (/srv/shop/node_modules/a/node_modules/@b/c/index.js:1:2)'], 'deep (@b/c/index.js:1)'],
    [['new Big (C:\\shop\\big.js:4:1)'], 'new Big (big.js:4)'],
    [['Server.emit (node:events:524:28)'], null],
    [['what is this'], null],
    [[], null]
  ])) t.equal(placeOf(stack), place, stack[0])
  t.equal(placeOf(null), null)
  t.equal(sayPlace(['parse (/srv/shop/app.js:12:5)']), ', at parse (app.js:12)')
  t.equal(sayPlace(null), '')
})

t.test('the request is the one whose code runs, or those in flight', async t => {
  const requests = ['GET /a', 'GET /b', 'POST /c', 'GET /d'].map(request => ({ request, count: 1 }))
  t.equal(sayRequests({ request: 'GET /report', requests }), ' in GET /report')
  t.equal(sayRequests({ request: null, requests: requests.slice(0, 2) }), ' with GET /a, GET /b in flight')
  t.equal(sayRequests({ request: null, requests }), ' with GET /a, GET /b, POST /c and 1 more in flight')
  t.equal(sayRequests({ request: null, requests: [] }), '')
  t.equal(sayRequests({ request: null, requests: null }), '')
})
