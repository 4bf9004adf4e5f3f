'use strict'

require('../support/bundle').run('sticky')
