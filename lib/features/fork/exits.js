'use strict'

/**
 * How a copy ends. Node joins its threads on the way out, and a copy has none of them: process.exit(), an uncaught
 * exception and a loop that runs empty all hang there, or crash. The addon ends a copy just before that, when every
 * exit handler has run and Node has reported what it reports; all it has to be told is the code.
 *
 * @param {import('../../native/addon').Addon} addon
 * @param {NodeJS.Process} [process] before the app is loaded, so that what the app puts around these two is around ours
 * @returns {boolean} false: this Node has no such hook
 */
function guardExits (addon, process = global.process) {
  if (!addon.guardExits()) return false
  const { emit, reallyExit } = /** @type {any} */ (process)
  Object.assign(process, {
    /** @this {any} @param {string} event @param {any[]} args */
    emit (event, ...args) {
      const isHeard = Reflect.apply(emit, this, [event, ...args])
      if (event === 'exit') addon.exitAs(Number(process.exitCode ?? 0))
      return isHeard
    },
    /** @this {any} @param {number} code */
    reallyExit (code) {
      addon.exitAs(Number(code ?? 0))
      Reflect.apply(reallyExit, this, [code])
    }
  })
  return true
}

module.exports = { guardExits }
