'use strict'

/** @returns {import('../interface').WorkerPart} */
const countHandles = () => ({ figures: () => ({ handles: process.getActiveResourcesInfo().length }) })

module.exports = { part: countHandles }
