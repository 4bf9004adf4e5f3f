'use strict'

require('../support/bundle').run('signals')
