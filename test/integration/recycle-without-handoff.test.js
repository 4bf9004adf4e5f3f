'use strict'

const t = require('tap')
const { recycleUnderLoad } = require('../support/recycle-under-load')

recycleUnderLoad(t, false)
