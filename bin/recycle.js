#!/usr/bin/env node
'use strict'

require('../lib/cli/program').main(process.argv)
