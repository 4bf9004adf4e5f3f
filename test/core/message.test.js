'use strict'

const t = require('tap')
const { message, dispatcher } = require('../../lib/core/message')

t.test('a message travels as one of Node\'s internal ones, so that the app never sees it', async t => {
  t.same(message('keep', { id: 3 }), { cmd: 'NODE_RECYCLE', type: 'keep', id: 3 })
  t.same(message('hello'), { cmd: 'NODE_RECYCLE', type: 'hello' })
  t.ok(message('hello').cmd.startsWith('NODE_'))
})

t.test('a message is dispatched by its type, with its fields and what came with it', async t => {
  /** @type {any[]} */
  const calls = []
  const dispatch = dispatcher({ keep: (fields, handle) => calls.push(['keep', fields.id, handle]), drop: ({ id }) => calls.push(['drop', id]) })
  const handle = {}
  dispatch(message('keep', { id: 1 }), handle)
  dispatch(JSON.parse(JSON.stringify(message('drop', { id: 2 }))))
  t.same(calls, [['keep', 1, handle], ['drop', 2]])
  t.equal(calls[0][2], handle)
})

t.test('what is not ours, or has no handler, is left alone', async t => {
  const dispatch = dispatcher({ keep: () => t.fail('it was not for us') })
  for (const received of [undefined, null, 'keep', 5, {}, { type: 'keep' }, { cmd: 'NODE_CLUSTER', type: 'keep' }, { cmd: 'NODE_HANDLE_ACK' }, message('drop', { id: 1 })]) {
    t.doesNotThrow(() => dispatch(received))
  }
})

t.test('handlers that are added later are found', async t => {
  /** @type {Record<string, () => void>} */
  const handlers = {}
  const dispatch = dispatcher(handlers)
  let called = 0
  handlers.late = () => { called++ }
  dispatch(message('late'))
  t.equal(called, 1)
})

t.test('a message whose handle was lost on the way is told without it; one whose handle came is told by Node', async t => {
  /** @type {any[]} */
  const calls = []
  const dispatch = dispatcher({ adopt: ({ id }, handle) => calls.push([id, handle]) })
  const carried = (/** @type {number} */ id) => ({ cmd: 'NODE_HANDLE', type: 'net.Native', msg: message('adopt', { id }) })
  dispatch(carried(1), undefined)
  dispatch(carried(2), {})
  dispatch({ cmd: 'NODE_HANDLE', type: 'net.Socket', msg: { what: 'the app sends a socket' } }, undefined)
  t.same(calls, [[1, undefined]])
})
