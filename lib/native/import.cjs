'use strict'

/**
 * import(), for files that own-code.js loads: V8 knows no importer of scripts that Node.js has not loaded, and this one
 * it has, as each file whose name does not end in .js.
 *
 * @param {string} specifier an absolute URL, or the name of a package @returns {Promise<any>}
 */
module.exports = specifier => import(specifier)
