'use strict'

/**
 * The same for every name of a file, and no other file's for as long as this one is open or has a name.
 *
 * @param {{ dev: number, ino: number }} stat
 */
function fileId ({ dev, ino }) {
  return `${dev}:${ino}`
}

module.exports = { fileId }
