'use strict'

const neostandard = require('neostandard')

module.exports = [
  ...neostandard({ ignores: ['types/**', '.tap/**', 'bench/results/**'] }),
  { rules: { 'no-void': 'off' } }
]
