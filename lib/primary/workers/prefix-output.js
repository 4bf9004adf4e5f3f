'use strict'

/**
 * Puts the slot before each line of a worker's stdout and stderr.
 *
 * @param {import('node:child_process').ChildProcess} child with both piped
 * @param {() => number | string} slot
 */
function prefixLines (child, slot) {
  const readline = require('node:readline') // loaded only where prefixes are asked for
  for (const [from, to] of /** @type {const} */ ([[child.stdout, process.stdout], [child.stderr, process.stderr]])) {
    if (!from) continue
    readline.createInterface({ input: from, crlfDelay: Infinity }).on('line', line => to.write(`[${slot()}] ${line}\n`))
  }
}

module.exports = { prefixLines }
