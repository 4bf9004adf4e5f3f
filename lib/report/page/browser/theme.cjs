'use strict'

/* global document, getComputedStyle, matchMedia, addEventListener */

/** The colours are the style sheet's; a canvas has to be told them, again whenever they change. */

const PRINT_WIDTH = 690

function color (name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}

/** @param {(width: number | null) => void} redraw with the width of a sheet of paper, or null: as wide as there is room */
function onChange (redraw) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => redraw(null))
  addEventListener('beforeprint', () => {
    document.documentElement.dataset.paper = ''
    redraw(PRINT_WIDTH)
  })
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset.paper
    redraw(null)
  })
}

module.exports = { color, onChange }
