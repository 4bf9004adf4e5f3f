#!/usr/bin/env node
'use strict'

require('../lib/cli/lean-start').begin()
require('../lib/cli/program').main(process.argv)
