'use strict'

/*
 * The page of a study: what has grown as a flame graph, in which a click on a function makes it as wide as the page,
 * and as a table.
 */

const { h } = require('../../../tools/report/page/browser/element.cjs')

const ROW = 20
const LEAST = 0.0008 // of the width

const { about, sentences, tree, rows } = JSON.parse(document.getElementById('data').textContent)

function totalOf (branch) {
  branch.total = branch.bytes + branch.children.reduce((sum, child) => sum + totalOf(child), 0)
  branch.children.sort((a, b) => b.total - a.total)
  return branch.total
}

function size (bytes) {
  if (bytes < 1024) return `${Math.round(bytes)} B`
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

const root = { name: 'growth', at: '', kind: 'root', bytes: 0, children: tree }
totalOf(root)
const detail = h('p.hint.below', {}, [' '])
const flame = h('div.flame', { role: 'img', 'aria-label': `Flame graph of a growth of ${size(root.total)}` })

/** Draws from this branch on; above it are those that it is called by, each of the whole width. */
function draw (focus, above) {
  flame.replaceChildren()
  above.forEach((branch, depth) => box(branch, depth, 0, 1, above.slice(0, depth)))
  let deepest = above.length
  const place = (branch, depth, left, width, way) => {
    if (width < LEAST) return
    deepest = Math.max(deepest, depth)
    box(branch, depth, left, width, way)
    let at = left
    for (const child of branch.children) {
      const part = width * child.total / branch.total
      place(child, depth + 1, at, part, [...way, branch])
      at += part
    }
  }
  place(focus, above.length, 0, 1, above)
  flame.style.height = `${(deepest + 1) * ROW}px`
}

function box (branch, depth, left, width, way) {
  const { name, at, kind, bytes, total } = branch
  const text = `${name} ${at}: ${size(total)} (${(100 * total / (root.total || 1)).toFixed(1)} %), ` +
    `${size(bytes)} by itself`
  const button = h(`button.frame.${kind}`, { title: text }, [width > 0.03 ? `${name} ${at}` : ''])
  button.style.left = `${100 * left}%`
  button.style.width = `${100 * width}%`
  button.style.top = `${depth * ROW}px`
  button.addEventListener('click', () => {
    detail.textContent = text
    draw(branch, way)
  })
  button.addEventListener('mouseenter', () => { detail.textContent = text })
  flame.append(button)
}

draw(root, [])
const titles = ['Growth', 'A request', '95 % interval', 'Samples', 'Function', 'Called by', 'Allocates in']
document.getElementById('page').replaceChildren(
  h('div.brand', {}, [h('i'), 'recycle ', h('span', {}, [`leak: ${about}`])]),
  ...sentences.map(text => h('p', {}, [`${text[0].toUpperCase()}${text.slice(1)}.`])),
  h('h2', {}, ['What has grown, by the stack that allocated it']),
  h('div.panel', {}, root.total > 0 ? [flame] : ['Nothing.']),
  detail,
  h('p.hint', {},
    [h('span.app', {}, ["the app's code"]), h('span.package', {}, ['packages']), h('span.node', {}, ['Node.js'])]),
  h('h2', {}, ['Functions']),
  h('div.panel.wide', {}, [h('table', {}, [
    h('thead', {}, [h('tr', {}, titles.map((title, i) => h(i > 3 ? 'th.left' : 'th', { scope: 'col' }, [title])))]),
    h('tbody', {}, rows.map(({ cells, isSure, isGrowing }) =>
      h(isSure && isGrowing ? 'tr.bad' : 'tr', {}, cells.map((cell, i) => h(i > 3 ? 'td.left' : 'td', {}, [cell])))))
  ])]),
  h('p.hint.below', {}, ['Red: it has grown in both halves of the time, by enough samples to tell it from chance.'])
)
