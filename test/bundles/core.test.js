'use strict'

require('../support/bundle').run('core')
