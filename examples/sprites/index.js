'use strict'

// node examples/sprites: the hub and a fleet of servers. More options of recycle may follow: node examples/sprites -w 4
// --max-rss 128MiB
const path = require('node:path')
const { main } = require('../../lib/cli/program')

main([process.execPath, 'recycle', '--replay-after', '0', ...process.argv.slice(2), path.join(__dirname, 'server.js')])
