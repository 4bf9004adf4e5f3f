'use strict'

/** Output of the command line, a line at a time, with control characters escaped. */

const { escapeControls, escapedJson } = require('../core/escape-controls')

const READER_GONE = 'EPIPE' // such as `head`, which has closed the pipe: no reason to fail

let hasPrinted = false
let hasFailed = false

/** Where output cannot be written, as on a full disk, a command says so and fails. */
function watchOutput () {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onError)
}

/** @param {string} text on stdout, as it is */
function write (text) {
  attempt(process.stdout, text)
}

/** @param {string} text on stdout */
function print (text) {
  write(`${escapeControls(text)}\n`)
}

/** @param {unknown} value on stdout, as JSON */
function printJson (value) {
  write(`${escapedJson(value)}\n`)
}

/** @param {string} text on stderr */
function complain (text) {
  attempt(process.stderr, `${escapeControls(text)}\n`)
}

/**
 * A warning as the log has it, on stderr.
 * @param {string} call of recycle @param {{ warning: string } & Record<string, unknown>} warning
 */
function complainOf (call, warning) {
  complain(`${call}: ${require('../journal/sentence').sentence({ event: 'fleet.warning', ...warning })}`)
}

/** The width of stdout, and whether it shows colours: for tables. */
function paper () {
  const { stdout } = process
  return { width: stdout.columns ?? Infinity, colors: stdout.isTTY && stdout.hasColors() }
}

/** @param {NodeJS.WriteStream} stream @param {string} text */
function attempt (stream, text) {
  hasPrinted = true
  try {
    stream.write(text)
  } catch (error) {
    stream.emit('error', error) // of a file, which Node.js writes to at once
  }
}

/** @param {NodeJS.ErrnoException} error */
function onError ({ code, message }) {
  if (code === READER_GONE || hasFailed || !hasPrinted) return // what a fleet writes is not printed here
  hasFailed = true
  process.once('exit', () => { process.exitCode ||= 1 })
  complain(`recycle: what it prints cannot be written: ${message}`)
}

/** On stderr, where it is read: this process can exit then, and must. @param {string} text */
async function lastWords (text) {
  const outputs = new (require('../primary/outputs').Outputs)()
  outputs.of(2).log(`${escapeControls(text)}\n`)
  await outputs.end()
}

module.exports = { watchOutput, write, print, printJson, complain, complainOf, lastWords, paper }
