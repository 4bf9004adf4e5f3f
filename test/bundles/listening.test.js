'use strict'

require('../support/bundle').run('listening')
