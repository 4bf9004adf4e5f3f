'use strict'

require('../support/bundle').run('report')
