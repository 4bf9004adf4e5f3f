'use strict'

require('../support/bundle').run('forked')
