'use strict'

const t = require('tap')
const { TicketKeys } = require('../../../lib/primary/sockets/ticket-keys')

t.test('servers with the same options share the keys of the first, others do not', async t => {
  const keys = new TicketKeys()
  t.match(keys.share({ ticketKeys: 'a', options: 'x' }), { ticketKeys: 'a' })
  t.match(keys.share({ ticketKeys: 'b', options: 'x' }, 7), { ticketKeys: 'a' })
  t.match(keys.share({ ticketKeys: 'c', options: 'y' }), { ticketKeys: 'c' })
  t.match(keys.share({ ticketKeys: 'd', options: 'x' }), { ticketKeys: 'a' }, 'code that is put back')
})

t.test('where not all options are known, only workers of one generation share', async t => {
  const keys = new TicketKeys()
  t.match(keys.share({ ticketKeys: 'a', options: 'x', isOpaque: true }, 1), { ticketKeys: 'a' })
  t.match(keys.share({ ticketKeys: 'b', options: 'x', isOpaque: true }, 1), { ticketKeys: 'a' })
  t.match(keys.share({ ticketKeys: 'c', options: 'x', isOpaque: true }, 2), { ticketKeys: 'c' })
  t.match(keys.share({ ticketKeys: 'd', options: 'x' }, 2), { ticketKeys: 'd' })
})

t.test('a successor goes on with the latest; a worker that asks with ever other options has them forgotten', async t => {
  const keys = new TicketKeys()
  for (let i = 0; i < 1000; i++) keys.share({ ticketKeys: `key ${i}`, options: String(i) })
  t.match(keys.share({ ticketKeys: 'z', options: '0' }), { ticketKeys: 'z' })
  t.match(new TicketKeys(keys.latest).share({ ticketKeys: 'y', options: '0' }), { ticketKeys: 'z' })
  t.equal(new TicketKeys().latest, undefined)
})
