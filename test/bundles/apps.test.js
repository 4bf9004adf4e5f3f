'use strict'

require('../support/bundle').run('apps')
