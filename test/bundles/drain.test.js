'use strict'

require('../support/bundle').run('drain')
