'use strict'

const neostandard = require('neostandard')

const WALL_CLOCK = 'The wall clock may be set, back as well as forward: intervals, deadlines and ages are by performance.now(). Where a time of day is meant, say so beside the exception.'

const COMMAND = 'npm run |node bench/|eslint-disable' // in a comment: it is not broken

module.exports = [
  ...neostandard({ ignores: ['types/**', '.tap/**', 'bench/results/**'] }),
  { rules: { 'no-void': 'off' } },
  {
    files: ['examples/sprites/page/**'],
    languageOptions: {
      sourceType: 'module',
      globals: Object.fromEntries(['document', 'sessionStorage', 'requestAnimationFrame'].map(name => [name, 'readonly']))
    }
  },
  {
    files: ['bin/**', 'lib/**', 'test/**', 'bench/**', 'examples/**'],
    rules: {
      'max-len': ['error', {
        code: 120,
        ignoreStrings: true,
        ignoreTemplateLiterals: true,
        ignoreRegExpLiterals: true,
        ignoreUrls: true,
        ignorePattern: COMMAND
      }]
    }
  },
  {
    files: ['bin/**', 'lib/**'],
    rules: {
      'max-len': ['error', { code: 120, ignoreUrls: true, ignorePattern: COMMAND }],
      '@stylistic/object-property-newline': 'off', // short properties fill a line
      'no-restricted-properties': ['error', { object: 'Date', property: 'now', message: WALL_CLOCK }],
      'no-restricted-syntax': ['error',
        { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: WALL_CLOCK },
        { selector: 'CallExpression[callee.name="Date"]', message: WALL_CLOCK }
      ]
    }
  }
]
