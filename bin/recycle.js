#!/usr/bin/env node
'use strict'

require('../lib/cli/lean-v8').begin()
require('../lib/cli/program').main(process.argv)
