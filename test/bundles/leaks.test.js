'use strict'

require('../support/bundle').run('leaks')
