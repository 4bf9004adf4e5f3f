'use strict'

require('../support/bundle').run('rollout')
