'use strict'

/* global document, getComputedStyle, matchMedia, addEventListener */

/** Colours come from the style sheet. A canvas does not follow it, so plots are drawn again when the colours change. */

const PRINT_WIDTH = 690

const color = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

/** @param {(width: number | null) => void} redraw with the width of the paper, or null: the available width */
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
