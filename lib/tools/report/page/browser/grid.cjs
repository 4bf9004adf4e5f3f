'use strict'

/* global ResizeObserver */

const { h } = require('./element.cjs')
const { plural } = require('./format.cjs')

const AT_ONCE = 200

/**
 * A table that sorts by the column whose heading is clicked; a second click reverses the order.
 * @param {string} caption
 * @param {{ title: string, value: (item: any) => any, text?: (item: any) => string, left?: boolean,
 *   isLong?: boolean }[]} columns
 * @param {any[]} items @param {(item: any) => string} [classOf] of a row
 */
function grid (caption, columns, items, classOf = () => '') {
  let sorted = items
  let most = AT_ONCE
  let by = { column: -1, isDown: false }
  const body = h('tbody')
  const heads = columns.map((column, i) => h(`th${column.left ? '.left' : ''}`, { scope: 'col', 'aria-sort': 'none' }, [
    h('button', { type: 'button', click: () => sort(i) }, [column.title])
  ]))
  const more = h('button.more', { type: 'button', click: showAll }, [''])

  function fill () {
    body.replaceChildren(...sorted.slice(0, most).map(item =>
      h('tr', { class: classOf(item) || null }, columns.map(({ value, text, left, isLong }) =>
        h(`td${left ? '.left' : ''}${isLong ? '.long' : ''}`, {}, [text ? text(item) : value(item)])))))
    more.hidden = sorted.length <= most
    more.textContent = `Show ${plural(sorted.length - most, 'more row')}`
  }

  function sort (column) {
    by = { column, isDown: by.column === column && !by.isDown }
    const { value } = columns[column]
    sorted = [...items].sort((a, b) => compare(value(a), value(b)) * (by.isDown ? -1 : 1))
    heads.forEach((head, i) =>
      head.setAttribute('aria-sort', i !== column ? 'none' : by.isDown ? 'descending' : 'ascending'))
    fill()
  }

  function showAll () {
    most = Infinity
    fill()
  }

  fill()
  return h('div', {}, [
    scroller(caption, h('table', {}, [h('caption', {}, [caption]), h('thead', {}, [h('tr', {}, heads)]), body])),
    more
  ])
}

/** Missing values come first. */
function compare (a, b) {
  if (a === b) return 0
  if (a === null || a === undefined) return -1
  if (b === null || b === undefined) return 1
  return typeof a === 'string' ? a.localeCompare(b) : a - b
}

/** A table that may be wider than the page, and says so. @param {string} label @param {HTMLElement} table */
function scroller (label, table) {
  const hint = h('p.hint.sideways', { hidden: '' }, ['more columns: scroll sideways →'])
  const box = h('div.scroll', { tabindex: '0', role: 'region', 'aria-label': label }, [table])
  const look = () => { hint.hidden = box.scrollWidth <= box.clientWidth + 1 }
  const observer = new ResizeObserver(look)
  for (const element of [box, table]) observer.observe(element) // rows of a live page grow
  box.addEventListener('scroll', () => { hint.hidden = true }, { once: true })
  return h('div', {}, [hint, box])
}

/** Rows of figures, each with a name. */
function ofFigures (label, caption, titles, rows) {
  return scroller(label, h('table', {}, [
    h('caption', {}, [caption]),
    h('thead', {}, [h('tr', {}, ['', ...titles].map(title => h('th', { scope: 'col' }, [title])))]),
    h('tbody', {}, rows)
  ]))
}

function figuresRow (name, texts, tag = 'tr') {
  return h(tag, {}, [h('th.left', { scope: 'row' }, [name]), ...texts.map(text => h('td', {}, [text]))])
}

module.exports = { grid, scroller, ofFigures, figuresRow }
