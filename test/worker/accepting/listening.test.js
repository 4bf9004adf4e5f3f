'use strict'

const t = require('tap')
const { Listening } = require('../../../lib/worker/accepting/listening')

/** In place of libuv's. */
class Handle {
  fd = -1
  isClosed = false
  listen () { return 0 }
  close () { this.isClosed = true }
}

t.test('of two handles that come for lend() and for open(), one is kept', async t => {
  for (const order of [[0, 1], [1, 0]]) {
    /** @type {((handle: any) => void)[]} */
    const asked = []
    const listening = new Listening(/** @type {any} */ (new Handle()), () => {}, take => asked.push(take))
    listening.shut()
    listening.lend(() => 0)
    listening.open(() => {})
    const handles = [new Handle(), new Handle()]
    for (const i of order) asked[i](handles[i])
    await new Promise(resolve => setImmediate(resolve))
    t.ok(listening.isOpen)
    t.equal(handles.filter(({ isClosed }) => isClosed).length, 1)
    listening.close()
    t.ok(handles.every(({ isClosed }) => isClosed))
  }
})
