'use strict'

// npm run demo: what `recycle drill` does, on an app that leaks. Exit code 0 only if nothing was dropped and workers
// were recycled. More options may follow, and override these: npm run demo -- --duration 60s --html page.html
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { main } = require('../lib/cli/program')

const more = process.argv.slice(2)
const page = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'recycle-demo-')), 'report.html')

main([process.execPath, 'recycle', 'drill',
  '--duration', '20s',
  '--connections', '50',
  '--max-rss', '128MiB',
  '--interval', '250ms',
  '--log', 'pretty',
  '--html', page,
  ...more,
  path.join(__dirname, 'leaky.js')
])
