'use strict'

require('../support/bundle').run('operate')
