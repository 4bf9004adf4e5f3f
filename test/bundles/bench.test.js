'use strict'

require('../support/bundle').run('bench')
