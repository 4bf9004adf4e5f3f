'use strict'

const { figuresOf } = require('../support/figures')
const { markdownTable } = require('../support/table')

const APPS = { http: 'node:http', express: 'Express', fastify: 'Fastify', koa: 'Koa', nest: 'NestJS', next: 'Next.js' }
const PEERS = { recycle: '**recycle**', forked: 'recycle, forked', pm2: '`pm2 reload`', watt: '`wattpm restart`' }

module.exports = {
  /** @param {import('.').Read} read */
  reloads (read) {
    return markdownTable([
      ['requests dropped / connections reopened; p99', ...Object.values(PEERS)],
      ...Object.entries(APPS).map(([app, title]) => [title, ...Object.keys(PEERS).map(peer => {
        const figures = figuresOf(read(app === 'next' ? 'next' : 'frameworks'), { group: app, subject: peer })
        return Number.isNaN(figures.sum('requests')) ? '–' : `${figures.total('dropped')} / ${figures.total('reopened')}; ${figures.median('p99')} ms`
      })])
    ])
  }
}
