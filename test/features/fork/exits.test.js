'use strict'

const t = require('tap')
const { startMold, skip } = require('../../support/mold')

t.test('however a copy ends, it ends, and its exit status is true', { skip }, async t => {
  const { forkOne, mold } = await startMold(t, 'ends.js', { execArgv: ['--max-old-space-size=40'] })
  const end = way => {
    const child = forkOne()
    child.send(way)
    return child.ended
  }
  for (const [way, code, heard] of [
    ['process.exit', 3, 3], ['the loop runs empty', 4, 4], ['uncaught exception', 1, 1], ['unhandled rejection', 1, 1], ['exit handler', 9, 0]
  ]) {
    t.match(await end(way), { code, signal: null, out: `exit handlers run with ${heard}\n` }, way)
  }
  t.equal((await end('the loop runs empty twice')).out, 'beforeExit was heard with 0\nexit handlers run with 0\n')
  for (const [way, signal] of [['process.abort', 'SIGABRT'], ['out of memory', 'SIGABRT'], ['SIGKILL to itself', 'SIGKILL'], ['SIGTERM to itself', 'SIGTERM']]) {
    t.match(await end(way), { code: null, signal, out: '' }, way)
  }
  t.match((await end('uncaught exception')).err, /ends\.js:\d+\n.*throw new Error.*\n +\^\n\nError: thrown in the copy\n +at /, 'Node reports it as ever')
  t.match((await end('unhandled rejection')).err, /Error: rejected in the copy\n +at /)
  t.equal(mold.exitCode, null, 'the mold lives on')
})
