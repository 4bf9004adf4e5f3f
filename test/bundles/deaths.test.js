'use strict'

require('../support/bundle').run('deaths')
