'use strict'

/**
 * `movable()` and `onMoved()` of the worker API: connections whose protocol is the app's, such as WebSockets, go to
 * another worker when theirs leaves, with a state that the app gives them. What is not movable is the app's to end, as
 * ever.
 */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'migration',
  options: () => [],
  group: '',
  isOn: ({ handoff }) => handoff,
  api: ['movable', 'onMoved'],
  worker: true
})
