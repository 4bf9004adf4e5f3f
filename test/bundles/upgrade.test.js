'use strict'

require('../support/bundle').run('upgrade')
