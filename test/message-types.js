'use strict'

/** The types of messages, made of their shapes: see schema.js. */

const { FROM_WORKER, FROM_PRIMARY, VERBS } = require('../lib/tables/message')
const { FROM_PREDECESSOR, FROM_SUCCESSOR } = require('../lib/tables/primary-message')
const { record } = require('../lib/core/shape')

/** @typedef {import('../lib/core/shape').Shape} Shape */

/**
 * A shape says what it accepts by a function. So its type is found by asking it: the longest value has all fields, and
 * each of them is replaced by others.
 *
 * @param {any} longest @param {(value: unknown) => boolean} accepts @returns {string} in TypeScript
 */
function typeOf (longest, accepts) {
  return `${typeOfGiven(longest, accepts)}${accepts(null) ? ' | null' : ''}`
}

/** @param {any} longest @param {(value: any) => boolean} accepts @returns {string} null aside */
function typeOfGiven (longest, accepts) {
  if (Array.isArray(longest)) {
    const item = typeOf(longest[0], value => accepts([value]))
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (longest === undefined) return "import('./core/account').Account" // whose fields belong together
  if (typeof longest !== 'object') return typeof longest
  const names = Object.keys(longest)
  if (names.length === 0) return 'object'
  if (accepts({ any: longest[names[0]] })) {
    return `Record<string, ${typeOf(longest[names[0]], value => accepts({ any: value }))}>`
  }
  const fields = names.map(name => {
    const takes = (/** @type {unknown} */ value) => accepts({ ...longest, [name]: value })
    const isWord = typeof longest[name] === 'string' && !takes('x')
    return isWord ? null : `${quoted(name)}${takes(undefined) ? '?' : ''}: ${typeOf(longest[name], takes)}`
  })
  // One word says which fields it has
  return fields.includes(null) ? 'Record<string, any>' : `{ ${fields.join(', ')} }`
}

/** @param {string} name */
function quoted (name) {
  return /^\w+$/.test(name) ? name : `'${name}'`
}

/** @param {string} name @param {string} what it is @param {[string, Shape][]} shapes by message */
function typesOf (name, what, shapes) {
  const rows = shapes.map(([type, shape]) =>
    `  ${quoted(type)}: ${typeOf(shape.longest?.(), value => shape(value) === null)}\n`)
  return `/** ${what} */\nexport interface ${name} {\n${rows.join('')}}\n`
}

/** @param {Readonly<Record<string, import('../lib/tables/message').Kind>>} kinds */
const fieldsOf = kinds => Object.entries(kinds)
  .map(([type, { fields }]) => /** @type {[string, Shape]} */ ([type, fields]))

/** @returns {string} */
function messageTypes () {
  const verbs = Object.entries(VERBS)
  const does = verbs.map(([verb, { fields }]) => /** @type {[string, Shape]} */ ([verb, record(fields)]))
  const answers = verbs.filter(([, { answer }]) => answer)
    .map(([verb, { answer = {} }]) => /** @type {[string, Shape]} */ ([verb, record(answer)]))
  return `// Made by npm run schema.

${typesOf('FromWorker', 'worker → primary: fields by message; lib/tables/message.js says what they mean.', fieldsOf(FROM_WORKER))}
${typesOf('FromPrimary', 'primary → worker.', fieldsOf(FROM_PRIMARY))}
${typesOf('Does', 'What the primary has a worker do, by verb.', does)}
${typesOf('Answers', 'What a worker answers to a call that it has done, by verb.', answers)}
${typesOf('FromPredecessor', 'A primary → its successor; lib/tables/primary-message.js says what they mean.', fieldsOf(FROM_PREDECESSOR))}
${typesOf('FromSuccessor', 'A primary → its predecessor.', fieldsOf(FROM_SUCCESSOR))}
/** What is done at messages, by type; what came with one is checked by its kind. */
export type Hearers<Messages> = { readonly [Type in keyof Messages]?: (fields: Messages[Type], handle?: import('./core/internals').Handle) => void }

/** What is asked and not answered. */
export type Orders = Omit<Does, keyof Answers>

/** What does what is asked, by the verb of a call, which is answered once. */
export type Doers = {
  readonly [Verb in keyof Answers]?:
    (fields: Does[Verb], answer: (answer: Answered<Verb>) => void, socket?: import('./core/internals').Handle) => void
}

/** The fields of a call that was done, or why it was not. */
export type Answered<Verb extends keyof Answers> =
  Answers[Verb] & { why: null } | { why: string, isSkipped?: boolean, moved?: number }
`
}

module.exports = { messageTypes }
if (require.main === module) process.stdout.write(messageTypes())
