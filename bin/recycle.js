#!/usr/bin/env node
'use strict'

require('../lib/cli/young-generation').keepSmall()
require('../lib/cli/program').main(process.argv)
