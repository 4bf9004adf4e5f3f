'use strict'

require('../support/bundle').run('fork')
