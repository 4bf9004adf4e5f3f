'use strict'

/** Plain technical English: a process is named (the worker, the client), and terms are those of the field. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { pages } = require('../support/docs')

const ROOT = path.join(__dirname, '..', '..')

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

/** Names in code, and the patterns above. */
const EXCEPT = [/\bwho: /, /\bd\.who\b/, /^const EXCEPT/, /['"]nobody['"]/, /--kill-who=/, /^ {2}\[\//]

t.test('the sources name what they speak of', async t => {
  const files = ['bin', 'lib', 'test', 'bench', 'examples'].flatMap(folder => fs.readdirSync(path.join(ROOT, folder), { recursive: true })
    .map(file => path.join(folder, String(file)))
    .filter(file => /\.m?[jt]s$/.test(file) && !file.includes('node_modules')))
  t.ok(files.length > 350)
  const [[relative, instead]] = INSTEAD
  const isVague = (/** @type {string} */ line) => (relative.test(line) || /\b(?:some|no|any|every)body\b/i.test(line)) && !EXCEPT.some(except => except.test(line))
  const found = files.flatMap(file => fs.readFileSync(path.join(ROOT, file), 'utf8').split('\n')
    .flatMap((line, i) => isVague(line) ? [`${file}:${i + 1}: ${line.trim().slice(0, 100)}`] : []))
  t.same(found, [], `write ${instead}`)
})

/** The first words of each comment; lines of `//` below each other are one. @param {string} source */
function beginnings (source) {
  const lines = source.split('\n')
  return lines.flatMap((line, i) => {
    const [, block, own] = /^\s*\/\*\*\s*(.*)|(?:^|\s)\/\/ (.*)/.exec(line) ?? []
    if (own !== undefined) return /^\s*\/\/ /.test(line) && /^\s*\/\/ /.test(lines[i - 1]) ? [] : [{ at: i + 1, text: own }]
    return block === undefined ? [] : [{ at: i + 1, text: block || lines[i + 1]?.replace(/^\s*\* ?/, '') || '' }]
  })
}

t.test('a comment of the sources names its subject', async t => {
  t.same(beginnings('/** It is. */\n  /**\n   * Those are.\n   */\nf() // What\n// A b\n// It c').map(({ text }) => text), ['It is. */', 'Those are.', 'What', 'A b'])
  const files = ['bin', 'lib'].flatMap(folder => fs.readdirSync(path.join(ROOT, folder), { recursive: true })
    .map(file => path.join(folder, String(file)))
    .filter(file => /\.c?js$/.test(file)))
  t.ok(files.length > 350)
  const found = files.flatMap(file => beginnings(fs.readFileSync(path.join(ROOT, file), 'utf8'))
    .flatMap(({ at, text }) => /^(?:It|Its|They|Those|One|What)\b/.test(text) ? [`${file}:${at}: ${text.slice(0, 100)}`] : []))
  t.same(found, [], 'write the noun')
})
