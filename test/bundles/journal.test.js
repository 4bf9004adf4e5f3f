'use strict'

require('../support/bundle').run('journal')
