'use strict'

/** Identifies a file under all its names, while it is open or has one. @param {{ dev: number, ino: number }} stat */
const fileId = ({ dev, ino }) => `${dev}:${ino}`

module.exports = { fileId }
