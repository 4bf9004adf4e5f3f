'use strict'

/**
 * Identifies a file under all of its names. Unique while the file is open or has a name.
 * @param {{ dev: number, ino: number }} stat
 */
const fileId = ({ dev, ino }) => `${dev}:${ino}`

module.exports = { fileId }
