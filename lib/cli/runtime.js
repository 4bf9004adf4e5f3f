'use strict'

// Parsed by Node.js 6 already: the versions that are not supported read this file

const MAJOR = 20

/**
 * Whether a runtime is none that recycle runs on. Bun and Deno give a version of Node.js too.
 * @param {Record<string, string | undefined>} versions of `process` @param {string} program the path of the runtime
 * @returns {string | null} a sentence; null: it is supported
 */
function refuseRuntime (versions, program) {
  const other = versions.bun ? `Bun ${versions.bun}` : versions.deno ? `Deno ${versions.deno}` : null
  if (other === null && parseInt(String(versions.node)) >= MAJOR) return null
  return `${program} is ${other === null ? `Node.js ${versions.node}` : other}; Node.js ${MAJOR} or later is needed`
}

module.exports = { refuseRuntime }
