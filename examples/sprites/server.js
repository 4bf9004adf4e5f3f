'use strict'

// Desktops on a torus, whose sprites fly from one browser window into the next. A long-poll server: see README.md
// beside this file.
//   recycle --replay-after 0 examples/sprites/server.js
const http = require('node:http')
const { connectHub } = require('./connect')
const { readJson } = require('./body')
const { servePage } = require('./static-files')

const LONGEST_SPRITE = 4096
const LONGEST_NAME = 40
const EDGES = ['left', 'right', 'up', 'down', 'any']
/** Of errors of the hub. @type {Record<string, { status: number, error: string }>} */
const REFUSALS = {
  unknown: { status: 410, error: 'there is no such desktop (any more): join' },
  replaced: { status: 409, error: 'another poll of this desktop has come' },
  full: { status: 429, error: 'too many sprites wait for that desktop: try again later' }
}
const SLOT = process.env.RECYCLE_SLOT ?? '-'

/**
 * @typedef {import('node:http').IncomingMessage & { replayed?: number }} Request
 * @typedef {import('node:http').ServerResponse} Response
 */

const hub = connectHub(process.env)

/** @type {Record<string, (request: Request, response: Response, query: URLSearchParams) => unknown>} */
const ROUTES = {
  async 'POST /join' (request, response, query) {
    answer(request, response, 201, await hub.call('join', { name: query.get('name')?.slice(0, LONGEST_NAME) }))
  },

  async 'POST /leave' (request, response, query) {
    answerOf(request, response, 204, await hub.call('leave', { id: query.get('id') }))
  },

  /** Parked until there is something. It is safe to handle it in another worker, where it is parked again. */
  'GET /poll' (request, response, query) {
    const ack = number(query, 'ack') ?? 0
    const stitch = number(query, 'stitch')
    const poll = hub.park({ id: query.get('id') ?? '', ack, stitch, answer: ({ poll, ...message }) => answerOf(request, response, 200, message) })
    response.once('close', () => hub.unpark(poll)) // its client has left, or it moves
  },

  async 'POST /sprite' (request, response, query) {
    const edge = query.get('edge') ?? 'any'
    if (!EDGES.includes(edge)) return answer(request, response, 400, { error: `edge is one of ${EDGES.join(', ')}` })
    const sprite = await readJson(request, LONGEST_SPRITE)
    answerOf(request, response, 202, await hub.call('throw', { id: query.get('id'), edge, sprite, number: number(query, 'number') }))
  },

  async 'GET /stats' (request, response) {
    answer(request, response, 200, await hub.call('stats'))
  }
}

/** @param {URLSearchParams} query @param {string} name @returns {number | undefined} */
function number (query, name) {
  const text = query.get(name)
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/**
 * @param {Request} request @param {Response} response @param {number} status
 * @param {Record<string, any>} message of the hub
 */
function answerOf (request, response, status, { error, ...message }) {
  const refusal = REFUSALS[error]
  if (refusal) answer(request, response, refusal.status, { error: refusal.error })
  else answer(request, response, status, message)
}

/** @param {Request} request @param {Response} response @param {number} status @param {Record<string, any>} body */
function answer (request, response, status, body) {
  const json = status === 204 ? '' : JSON.stringify(body)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
    'Cache-Control': 'no-store',
    'Sprites-Worker': `slot=${SLOT}; pid=${process.pid}; moves=${request.replayed ?? 0}`
  })
  response.end(json)
}

const server = http.createServer({
  noDelay: true, // a sprite goes out at once
  // A client that vanished without a FIN is noticed, within minutes. The kernel then sends each idle connection a
  // packet a second, ten times.
  keepAlive: process.env.SPRITES_KEEPALIVE !== '0',
  keepAliveInitialDelay: 120_000,
  keepAliveTimeout: 65_000
}, async (/** @type {Request} */ request, response) => {
  const [path, query] = (request.url ?? '/').split('?')
  const route = ROUTES[`${request.method} ${path}`]
  try {
    if (route) await route(request, response, new URLSearchParams(query))
    else if (!servePage(request, response, path)) answer(request, response, 404, { error: 'there is no such page' })
  } catch (error) {
    const { status = 503, message } = /** @type {any} */ (error)
    if (!response.headersSent) answer(request, response, status, { error: message })
  }
})

// Ready is what the hub has been reached from.
hub.up().then(() => server.listen({ port: process.env.PORT ?? 3000, backlog: 4096 }), (/** @type {Error} */ error) => {
  process.stderr.write(`sprites: ${error.message}\n`)
  process.exit(1)
})
