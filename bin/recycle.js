#!/usr/bin/env node
'use strict'

// Other runtimes are refused before anything is loaded that does not load there, or fails later
const refusal = require('../lib/cli/runtime').refuseRuntime(process.versions, process.execPath)
if (refusal !== null) {
  console.error(`recycle: ${refusal}`)
  process.exit(2)
}
require('../lib/cli/lean-v8').begin()
const requireOwn = require('../lib/native/own-code').requireIn(__dirname)
requireOwn('../lib/cli/program').main(process.argv).then(() => {
  setTimeout(() => process.exit(), 1000).unref() // a config file may have started what would keep this process
})
