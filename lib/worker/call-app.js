'use strict'

/**
 * Every call of ours into the app's code. What it throws costs that call and nothing more: the loop in which it was
 * called goes on.
 *
 * The error goes where Node's go: to the app's handlers for uncaught exceptions and rejections. Where it has none, Node
 * would end the process, and with it the requests in flight; here the error is written to stderr. The journal has a
 * line of it, too.
 */

const { inspect } = require('node:util')
const { LONGEST_ERROR } = require('../core/envelope')
const { printError } = require('./leaving/standard-streams')

const MOST_TOLD = 20

let told = 0
let tell = (/** @type {{ where: string, error: string }} */ thrown) => {}

/** @param {typeof tell} fn is told of what is thrown from here on, of the first few */
function onThrown (fn) {
  tell = fn
}

/**
 * @template Result @param {string} where what is called, for the journal
 * @param {() => Result} call @returns {Result | undefined} undefined where it has thrown
 */
function callApp (where, call) {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(error => passOn(where, error, 'unhandledRejection'))
    return result
  } catch (error) {
    passOn(where, error, 'uncaughtException')
  }
}

/**
 * As process.emit(), but for what a listener throws: the others are called all the same.
 * @param {string} event @param {unknown} about
 */
function tellApp (event, about) {
  for (const listener of process.rawListeners(event)) {
    callApp(event, () => Reflect.apply(listener, process, [about]))
  }
}

/** @param {string} where @param {unknown} error @param {'uncaughtException' | 'unhandledRejection'} kind */
function passOn (where, error, kind) {
  if (++told <= MOST_TOLD) {
    tell({ where, error: String(error instanceof Error ? error.message : error).slice(0, LONGEST_ERROR) })
  }
  const isHandled = process.listenerCount('uncaughtException') > 0 || process.hasUncaughtExceptionCaptureCallback() ||
    process.listenerCount(kind) > 0
  if (!isHandled) printError(`${inspect(error)}\n`)
  else if (kind === 'unhandledRejection') Promise.reject(error)
  else process.nextTick(() => { throw error })
}

module.exports = { callApp, tellApp, onThrown }
