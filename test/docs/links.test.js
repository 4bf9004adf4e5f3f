'use strict'

/** Every link of the documentation has a target. */

const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { files: PUBLISHED } = require('../../package.json')
const { ROOT, pages, page, prose, inlineCode, anchors } = require('../support/docs')

const LONGEST_README = 150
const MOST_PAGES = 20
const MOST_WORDS = 30_000
const SOURCE = /^(?:lib|test|bench|bin|examples|docs)\/[\w./-]*(?:\/|\.\w+)$/

t.test(`the README has at most ${LONGEST_README} lines`, async t => {
  t.ok(page('README.md').text.trimEnd().split('\n').length <= LONGEST_README)
})

t.test(`the docs have at most ${MOST_PAGES} pages and ${MOST_WORDS} words`, async t => {
  const docs = pages().filter(({ name }) => name.startsWith('docs/'))
  const words = docs.map(({ text }) => text.match(/\S*[\p{L}\p{N}]\S*/gu)?.length ?? 0).reduce((sum, count) => sum + count)
  t.comment(`${docs.length} pages, ${words} words`)
  t.ok(docs.length <= MOST_PAGES, `${docs.length} pages`)
  t.ok(words <= MOST_WORDS, `${words} words`)
})

t.test('every relative link of the README and the docs resolves, with its anchor', async t => {
  const links = pages().flatMap(({ name, text }) => [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({ name, target })))
    .filter(({ target }) => !/^[a-z]+:/.test(target))
  t.ok(links.length > 40)
  for (const { name, target } of links) {
    const [file, anchor] = target.split('#')
    const to = file === '' ? name : path.posix.join(path.posix.dirname(name), file)
    t.ok(fs.existsSync(path.join(ROOT, to)), `${name}: ${target}`)
    if (anchor !== undefined) t.ok(anchors(page(to).text).has(anchor), `${name}: there is a heading for ${target}`)
  }
})

t.test('every page is in the index of the docs, to which the README links', async t => {
  t.match(page('README.md').text, '](docs/README.md)')
  const { text } = page('docs/README.md')
  const listed = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => path.posix.join('docs', target))
  t.same(pages().map(({ name }) => name).filter(name => name !== 'docs/README.md' && !listed.includes(name)), [])
})

t.test('the pages that the README links to are published with it', async t => {
  t.ok(PUBLISHED.includes('docs'))
})

t.test('every file and folder that the documentation names exists', async t => {
  const named = pages().flatMap(({ name, text }) =>
    inlineCode(text).filter(code => SOURCE.test(code)).map(file => ({ name, file })))
  t.ok(named.length > 60)
  t.same([...new Set(named.filter(({ file }) => !fs.existsSync(path.join(ROOT, file))).map(({ name, file }) => `${name}: ${file}`))], [])
})
