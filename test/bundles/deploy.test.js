'use strict'

require('../support/bundle').run('deploy')
