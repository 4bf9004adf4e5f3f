'use strict'

/** The README, the pages of docs/ and those of the examples, as the tests of test/docs/ read them. */

const fs = require('node:fs')
const path = require('node:path')

const ROOT = path.join(__dirname, '..', '..')

/** @typedef {{ name: string, text: string }} Page `name`: its path from the root */

/** @returns {Page[]} the README first */
function pages () {
  const docs = fs.readdirSync(path.join(ROOT, 'docs')).filter(file => file.endsWith('.md')).sort().map(file => `docs/${file}`)
  const examples = ['sprites', 'capacity'].map(name => `examples/${name}/README.md`)
  return ['README.md', ...docs, ...examples].map(page)
}

/** @param {string} name @returns {Page} */
function page (name) {
  return { name, text: fs.readFileSync(path.join(ROOT, name), 'utf8') }
}

/** @param {string} text @returns {string} without fenced blocks, which hold neither links nor headings */
function prose (text) {
  return text.replace(/^( *)```[^]*?^\1```$/gm, '')
}

/** @param {string} text @param {RegExp} language @returns {string[]} the content of its fenced blocks */
function fences (text, language) {
  return [...text.matchAll(/^( *)```([\w-]*)\n([^]*?)^\1```$/gm)].filter(([, , name]) => language.test(name)).map(([, , , code]) => code)
}

/** @param {string} text @returns {string[]} the text between backticks, in prose */
function inlineCode (text) {
  return [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code.replaceAll('\\|', '|'))
}

/** Anchors as GitHub makes them. @param {string} text @returns {Set<string>} */
function anchors (text) {
  /** @type {Map<string, number>} */
  const seen = new Map()
  return new Set([...prose(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading]) => {
    const anchor = heading.replaceAll('`', '').toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  }))
}

/** The rows of a Markdown table, but for its head. @param {string} table @returns {string[][]} their cells */
function rows (table) {
  const lines = table.split('\n').filter(line => line.startsWith('|')).map(cells)
  return lines.slice(lines.findIndex(([first]) => /^:?-+:?$/.test(first)) + 1)
}

/** @param {string} row @returns {string[]} */
function cells (row) {
  return row.split(/(?<!\\)\|/).slice(1, -1).map(cell => cell.trim().replaceAll('\\|', '|'))
}

module.exports = { ROOT, pages, page, prose, fences, inlineCode, anchors, rows }
