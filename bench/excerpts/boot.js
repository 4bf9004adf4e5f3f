'use strict'

const { figuresOf } = require('../support/figures')
const { markdownTable } = require('../support/table')

const APPS = ['light app', 'heavy app']
const VARIANTS = ['plain', 'compile cache', '--standby 1']

module.exports = {
  /** @param {import('.').Read} read */
  'first-byte' (read) {
    const files = read('boot')
    const nodes = files.map(({ machine }) => parseInt(machine.node.slice(1)))
    const rows = nodes.flatMap(node => VARIANTS.map(subject => [
      `Node ${node}, ${subject}`,
      ...APPS.map(group => {
        const figures = figuresOf(files, { node, group, subject })
        return `${figures.median('firstByteMs', 1)} (${figures.range('firstByteMs', 1)})`
      })
    ]))
    return markdownTable([['ms', ...APPS], ...rows.filter(([, light]) => !light.startsWith('–'))])
  }
}
