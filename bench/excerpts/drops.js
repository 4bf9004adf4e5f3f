'use strict'

const { figuresOf } = require('../support/figures')
const { markdownTable } = require('../support/table')

const MODES = ['keep-alive', 'a connection per request']
const PROXIED = 'behind nginx, rolling reloads'

/** The label of each peer, and its name in bench:drops and in bench:proxy. */
const COMPARED = [
  { title: '**recycle**', direct: 'recycle', proxied: 'recycle-reload' },
  { title: 'pm2, `max_memory_restart`', direct: 'pm2' },
  { title: '`pm2 reload`, again and again', direct: 'pm2-reload', proxied: 'pm2-reload' },
  { title: 'recluster, reload again and again', direct: 'recluster', proxied: 'recluster' },
  { title: 'the graceful `cluster` of blog posts', direct: 'blog-post' },
  { title: 'the 2017 experiment', direct: 'experiment' },
  { title: 'bare `cluster`, nothing recycled', direct: 'bare' }
]

module.exports = {
  /** @param {import('.').Read} read */
  compare (read) {
    /** @type {(files: any[], group: string, subject: string | undefined, key: string) => string} */
    const cell = (files, group, subject, key) => {
      const figures = figuresOf(files, { group, subject: subject ?? '' })
      return Number.isNaN(figures.sum('requests')) ? '–' : `${figures.total(key)} / ${figures.total('recycles')}`
    }
    return markdownTable([
      ['requests dropped / workers replaced', 'keep-alive clients', 'a connection per request', 'behind nginx with upstream keep-alive'],
      ...COMPARED.map(({ title, direct, proxied }) => [
        title, ...MODES.map(mode => cell(read('drops'), mode, direct, 'dropped')), cell(read('proxy'), PROXIED, proxied, 'dropped')
      ])
    ])
  },

  /** @param {import('.').Read} read */
  million (read) {
    const figures = figuresOf(read('drops-million'), { group: 'keep-alive', subject: 'recycle' })
    return `${figures.total('dropped')} of ${figures.total('requests')} requests were dropped over ${figures.total('recycles')} recycles, and ${figures.total('reopened')} client connections were reopened`
  },

  /** @param {import('.').Read} read */
  nginx (read) {
    const said = COMPARED.flatMap(({ title, proxied }) => {
      if (!proxied) return []
      const figures = figuresOf(read('proxy'), { group: PROXIED, subject: proxied })
      return [`${title}: ${figures.total('badGateway')} × 502 and ${figures.total('otherErrors')} other errors of ${figures.total('requests')} requests, ${figures.total('recycles')} workers replaced`]
    })
    return `${said.join('; ')}`
  }
}
