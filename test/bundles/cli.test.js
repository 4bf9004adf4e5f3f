'use strict'

require('../support/bundle').run('cli')
