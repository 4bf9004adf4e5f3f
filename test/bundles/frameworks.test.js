'use strict'

require('../support/bundle').run('frameworks')
