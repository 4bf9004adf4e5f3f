'use strict'

require('../support/bundle').run('service')
