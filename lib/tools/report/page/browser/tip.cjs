'use strict'

/* global document, innerWidth */

const { h } = require('./element.cjs')

/** The tooltip of a mark. */

const box = h('div.tip', { role: 'status', hidden: '' })
let shownFor = null

/** @param {Element} mark @param {string} kind @param {string} heading @param {[string, string][]} facts */
function show (mark, kind, heading, facts) {
  if (!box.isConnected) document.body.append(box)
  shownFor = mark
  box.className = `tip ${kind}`
  box.replaceChildren(h('strong', {}, [heading]),
    ...facts.map(([name, value]) => h('div', {}, [h('span', {}, [name]), value])))
  box.hidden = false
  const at = mark.getBoundingClientRect()
  const { offsetWidth, offsetHeight } = box
  const left = Math.min(Math.max(8, at.left + at.width / 2 - offsetWidth / 2), innerWidth - offsetWidth - 8)
  const top = at.top > offsetHeight + 16 ? at.top - offsetHeight - 8 : at.bottom + 8
  box.style.left = `${left}px`
  box.style.top = `${top}px`
}

function hide () {
  shownFor = null
  box.hidden = true
}

/** The mark is removed. @param {Element} mark */
function hideFor (mark) {
  if (shownFor === mark) hide()
}

module.exports = { show, hide, hideFor }
