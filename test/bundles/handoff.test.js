'use strict'

require('../support/bundle').run('handoff')
