'use strict'

/** The process of calls.js: runs the command line as bin/recycle.js does, call after call. */

const { main } = require('../../lib/cli/program')
const BIN = require.resolve('../../bin/recycle')

const ENV = { ...process.env }
const send = /** @type {NonNullable<typeof process.send>} */ (process.send).bind(process)

for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0) // each call adds one
process.on('disconnect', () => process.exit())
process.on('message', async (/** @type {any} */ { args, env, cwd }) => {
  process.chdir(cwd)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, ENV, env)
  process.argv = [process.execPath, BIN, ...args]
  process.exitCode = undefined
  const said = { stdout: '', stderr: '' }
  const heard = /** @type {const} */ (['stdout', 'stderr']).map(name => {
    const { write } = process[name]
    process[name].write = (/** @type {any} */ text, /** @type {any[]} */ ...more) => {
      said[name] += text
      more.findLast(argument => typeof argument === 'function')?.()
      return true
    }
    return () => { process[name].write = write }
  })
  await main(process.argv)
  for (const restore of heard) restore()
  send({ code: process.exitCode ?? 0, signal: null, ...said })
})
