'use strict'

/** `--sticky`: the requests of a session reach the same worker, and after it the workers that replace it. */

const { LONGEST, parseSessionKey } = require('./session')

const LONGEST_VALUE = 1_400_000 // in base64, of a megabyte

/** @type {import('../../core/option-types').OptionKind} */
const SESSION = {
  accepts: 'cookie:NAME, query:NAME, header:NAME, path:N (a segment, from 1) or ip',
  value: 'features/sticky/session#SessionKey',
  schema: { type: 'string', pattern: "^(ip|path:[1-9]\\d?|(cookie|query|header):[\\w!#$%&'*+.^`|~-]{1,100})$" },
  read: value => parseSessionKey(String(value))
}

/** @type {Readonly<import('..').Feature & { fromPredecessor: (shapes: import('..').Shapes) => import('..').Kinds }>} */
module.exports = Object.freeze({
  name: 'sticky',
  options: ({ row }) => [
    row('sticky', '--sticky <session>', SESSION, null, 'none', 'cookie:NAME, query:NAME, header:NAME, ' +
      'path:N (a segment) or ip: what names the session of a request; the requests of a session reach the same worker')
  ],
  group: 'Connections and requests:',
  check ({ sticky, handoff, plain }, { of, refuse }) {
    if (sticky !== null && !handoff) {
      refuse('sticky',
        `none with ${of(plain ? 'plain' : 'handoff').called}: a session is kept together by moving connections`)
    }
  },
  isOn: ({ sticky }) => sticky !== null,
  fromWorker: ({ kind, count, text, listOf }) => ({
    own: kind('a call, with --sticky: this session is this worker\'s', { id: count, session: text(LONGEST) }),
    forget: kind('the answer to `forget` with `ifUnused`, where it is', { session: text(LONGEST) }),
    tally: kind('with --sticky: of its latest `requests`, how many name a session, how many sessions its responses ' +
      'have begun, and how many of them, at least, are of the most frequent one; `which`: its hash',
    { requests: count, found: count, begun: count, most: count, which: count }),
    transfer: kind('with --sticky: the state of a session, for its owner',
      { session: text(LONGEST), value: text(LONGEST_VALUE) }),
    transferred: kind('with --sticky: the app of a worker that leaves is done with its sessions; ' +
      '`except`: with all but these, whose transfers are to come', { except: listOf(text(LONGEST)) })
  }),
  fromPrimary: ({ kind, text, flag, optional, orNull }) => ({
    forget: kind('with --sticky: this session may be another worker\'s by now; null: any of them; `ifUnused`: only ' +
      'where no request of it has come since this was last asked',
    { session: orNull(text(LONGEST)), ifUnused: optional(flag) }),
    transfer: kind('with --sticky: what another worker\'s app has transferred',
      { session: text(LONGEST), value: text(LONGEST_VALUE) })
  }),
  fromPredecessor: ({ kind, count, text, listOf, record }) => ({
    sessions: kind('with --sticky: the slots that have sessions, at first, and which slot has which',
      { slots: listOf(count), sessions: listOf(record({ session: text(LONGEST), slot: count })) }),
    transfer: kind('with --sticky: what the app of an old worker has transferred',
      { session: text(LONGEST), value: text(LONGEST_VALUE) }),
    transferred: kind('with --sticky: the old workers of this slot are done with their sessions, with all but these',
      { slot: count, except: listOf(text(LONGEST)) })
  }),
  warnings: {
    'sticky-tls': (line, { worker }) => `${worker(line)}: ${line.why}`,
    'sticky-none': ({ by, requests, begun }, { count }) => {
      const sessions = `${count(begun, 'session')} ${begun === 1 ? 'has' : 'have'}`
      const why = begun > 0
        ? `${sessions} begun in responses: the clients do not send them back`
        : 'no response has begun one'
      return `--sticky ${by}: none of ${count(Number(requests), 'request')} names a session, and ${why}; ` +
        'any worker serves them'
    },
    'sticky-one': ({ by, most, requests }, { count }) => `--sticky ${by}: one session has ` +
      `${Math.floor(100 * most / Number(requests))} % of ${count(Number(requests), 'request')} or more, so one ` +
      `worker serves them${by === 'ip' ? '; behind a proxy, --sticky header:x-forwarded-for tells clients apart' : ''}`,
    'sessions-lost': ({ sessions, chars }, { count, size }) => `the state of ${count(sessions, 'session')} ` +
      `(${size(chars)}) is lost: its workers were not ready, and there was no room to keep it`
  },
  api: ['own', 'transfer', 'onTransfer'],
  settings: ({ sticky }) => ({ key: sticky }),
  primary: () => require('./primary').keepSessions,
  worker: true
})
