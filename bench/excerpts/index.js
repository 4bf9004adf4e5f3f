'use strict'

/**
 * Excerpts of the published results. A page names an excerpt and never holds a number of its own:
 *
 *     gc: huge-heap                                            a table or a sentence of this folder
 *     overhead; keep-alive; recycle, idle; ratio cpuUs         one figure: bench; group; subject; how and which; of
 *                                                              the lowest Node
 *     boot; light app; plain; median firstByteMs; node 24      … of another Node
 *
 * In results/TEMPLATE.md they stand in `{{…}}`, in README.md and docs/*.md between `<!-- gc: huge-heap -->` and
 * `<!-- /gc -->`.
 */

const { figuresOf } = require('../support/figures')

/** @typedef {(bench: string) => any[]} Read results of a bench, one for each Node; none, where there are none */

/** @type {Record<string, Record<string, (read: Read) => string>>} */
const EXCERPTS = {
  boot: require('./boot'),
  canary: require('./canary'),
  drops: require('./drops'),
  frameworks: require('./frameworks'),
  gc: require('./gc'),
  meter: require('./meter'),
  overhead: require('./overhead'),
  pauses: require('./pauses'),
  websockets: require('./websockets')
}

const BLOCK = /(<!-- (([a-z-]+)[:;] [^>]*?) -->(\n?))([^]*?)(<!-- \/\3 -->)/g

/**
 * @param {string} expression
 * @param {Read} read
 * @returns {string} Markdown
 * @throws {Error} there is no such excerpt
 */
function excerpt (expression, read) {
  if (expression.includes(';')) return figure(expression, read)
  const [bench, name] = expression.split(': ')
  const found = EXCERPTS[bench]?.[name]
  if (!found) {
    const all = Object.entries(EXCERPTS).flatMap(([bench, names]) => Object.keys(names).map(name => `${bench}: ${name}`))
    throw new Error(`there is no excerpt ${JSON.stringify(expression)}; there are ${all.join(', ')}`)
  }
  return found(read)
}

/** @param {string} expression @param {Read} read @returns {string} */
function figure (expression, read) {
  const [bench, group, subject, what, ...more] = expression.split(/; */)
  const [how, key, digits] = what.split(' ')
  const node = Number(/^node (\d+)$/.exec(more[0] ?? '')?.[1]) || undefined
  const figures = figuresOf(read(bench), { node, group, subject })
  if (how === 'ratio' || how === 'briefly') return figures[how](key)
  if (how === 'median' || how === 'range' || how === 'total' || how === 'more') return figures[how](key, Number(digits ?? 0))
  throw new Error(`a figure is ratio, briefly, median, range, total or more; it is ${JSON.stringify(how)} in ${JSON.stringify(expression)}`)
}

/**
 * A page with each of its blocks rewritten.
 *
 * @param {string} page @param {Read} read
 */
function fillIn (page, read) {
  return page.replace(BLOCK, (_, start, expression, bench, newline, before, end) => `${start}${excerpt(expression, read)}${newline}${end}`)
}

/** @param {string} page @returns {{ expression: string, text: string }[]} its blocks */
function blocksOf (page) {
  return [...page.matchAll(BLOCK)].map(([, , expression, , , text]) => ({ expression, text: text.trim() }))
}

module.exports = { excerpt, fillIn, blocksOf }
