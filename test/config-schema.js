'use strict'

const { OPTIONS } = require('../lib/tables/options')

/** JSON schema of a config file; draft 7, which editors support. */
function configSchema () {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'recycle.config.json',
    description: 'Options of `recycle`; sizes are text such as 512MiB or bytes, times are text such as 30s',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      app: {
        type: 'string', minLength: 1, description: 'the file that `node` would run, from the folder of this file'
      },
      args: { type: 'array', items: { type: 'string' }, description: "the app's own arguments" },
      ...Object.fromEntries(OPTIONS.map(({ name, kind, help, defaultText }) =>
        [name, { description: `${help} (default: ${defaultText})`, ...kind.schema }]))
    },
    additionalProperties: false
  }
}

module.exports = { configSchema }
