'use strict'

require('../support/bundle').run('drill')
