'use strict'

require('../support/bundle').run('primary')
