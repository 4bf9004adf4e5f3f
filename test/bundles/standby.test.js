'use strict'

require('../support/bundle').run('standby')
