'use strict'

/** Plain technical English: a process is named (the worker, the client), and terms are those of the field. */

const t = require('tap')
const { pages } = require('../support/docs')

/** Each with what to write. @type {[RegExp, string][]} */
const INSTEAD = [
  [/\b(?:who|whom|whoever|whomever|who's)\b/i, 'the noun: the worker that, the client that'],
  [/\b(?:some|no|any|every)(?:body|one)\b/i, 'the noun: a worker, no client, each process'],
  [/\b(?:that one|those who|he who)\b/i, 'the noun'],
  [/\b(?:lobby|switch-?board|crew|farewell|vessels?|guests?|beacon|deeds?)\b/i, 'inbox, ledger, lifecycle, close notice, workers, connections, heartbeat, task'],
  [/\b(?:reprieved?|aside|hasty)\b/i, 'stays in service, out of rotation, fresh over budget']
]

for (const { name, text } of pages()) {
  t.test(`${name} names the noun`, async t => {
    const lines = text.split('\n')
    for (const [words, instead] of INSTEAD) {
      const found = lines.flatMap((line, i) => words.test(line) ? [`${i + 1}: ${words.exec(line)?.[0]}: ${line.slice(0, 100)}`] : [])
      t.same(found, [], `write ${instead}`)
    }
  })
}
