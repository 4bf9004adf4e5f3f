'use strict'

/* global document */

/**
 * Builds elements. Text always becomes a text node: no code of the page parses markup.
 * @param {string} tag with classes: `td.figure.bad`
 * @param {Record<string, any>} [attributes] functions are event listeners
 * @param {(Node | string | number | null)[]} [children] null is omitted
 */
function h (tag, attributes = {}, children = []) {
  const [name, ...classes] = tag.split('.')
  const element = document.createElement(name)
  if (classes.length) element.className = classes.join(' ')
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value)
    else if (value !== null) element.setAttribute(key, value)
  }
  for (const child of children) {
    if (child !== null) element.append(typeof child === 'object' ? child : document.createTextNode(`${child}`))
  }
  return element
}

module.exports = { h }
