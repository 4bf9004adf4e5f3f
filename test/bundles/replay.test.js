'use strict'

require('../support/bundle').run('replay')
