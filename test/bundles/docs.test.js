'use strict'

require('../support/bundle').run('docs')
