'use strict'

require('../support/bundle').run('examples')
