'use strict'

require('../support/bundle').run('parts')
