'use strict'

require('../support/bundle').run('features')
