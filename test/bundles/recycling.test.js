'use strict'

require('../support/bundle').run('recycling')
