'use strict'

require('../support/bundle').run('failover')
