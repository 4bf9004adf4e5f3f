'use strict'

/** The growth in the format of `HeapProfiler.getSamplingProfile`, which Chrome DevTools opens as a .heapprofile. */

const { pathToFileURL } = require('node:url')
/** @import { Branch, Growth } from './growth' */

/** @param {Growth | null} growth @returns {string} JSON */
function heapProfile (growth) {
  let lastId = 0
  /** @type {{ nodeId: number, size: number, ordinal: number }[]} */
  const samples = []
  /** @param {Branch} branch @returns {object} */
  const nodeOf = ({ name, file, line, column, bytes, children }) => {
    const id = ++lastId
    if (bytes > 0) samples.push({ nodeId: id, size: bytes, ordinal: samples.length + 1 })
    const url = file.startsWith('/') ? pathToFileURL(file).href : file
    return { callFrame: { functionName: name, scriptId: '0', url, lineNumber: line - 1, columnNumber: column - 1 }, selfSize: bytes, id, children: children.map(nodeOf) }
  }
  const head = nodeOf({ name: '(root)', file: '', line: 0, column: 0, kind: 'node', bytes: 0, children: growth?.tree ?? [] })
  return JSON.stringify({ head, samples })
}

module.exports = { heapProfile }
