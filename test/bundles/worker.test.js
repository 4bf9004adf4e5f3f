'use strict'

require('../support/bundle').run('worker')
