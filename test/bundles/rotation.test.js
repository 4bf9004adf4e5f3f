'use strict'

require('../support/bundle').run('rotation')
