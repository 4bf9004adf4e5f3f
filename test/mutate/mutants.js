'use strict'

/** Small faults put into a source, one each: what tests must notice. */

const acorn = require('acorn')
const walk = require('acorn-walk')

/**
 * @typedef {object} Mutant
 * @property {number} start offset of what is replaced
 * @property {number} end
 * @property {string} with
 * @property {number} line from 1
 * @property {string} kind
 */

/** @type {Record<string, string>} */
const OPERATORS = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*'
}

/** @param {string} source of a CommonJS file @returns {Mutant[]} in the order of their places */
function mutantsOf (source) {
  /** @type {Mutant[]} */
  const found = []
  const add = (/** @type {string} */ kind, /** @type {any} */ node, /** @type {string} */ replacement) => {
    found.push({ start: node.start, end: node.end, with: replacement, line: node.loc.start.line, kind })
  }
  const operator = (/** @type {any} */ node) => {
    const replacement = OPERATORS[node.operator]
    const start = node.left.end + source.slice(node.left.end, node.right.start).indexOf(node.operator)
    if (replacement && !isString(node.left) && !isString(node.right)) {
      add(node.operator, { start, end: start + node.operator.length, loc: node.loc }, replacement)
    }
  }
  const condition = (/** @type {any} */ node) => {
    if (!node.test) return
    add('condition', node.test, 'true')
    add('condition', node.test, 'false')
  }
  walk.simple(acorn.parse(source, { ecmaVersion: 'latest', sourceType: 'commonjs', locations: true }), {
    BinaryExpression: operator,
    LogicalExpression: operator,
    IfStatement: condition,
    ConditionalExpression: condition,
    Literal: (/** @type {any} */ node) => {
      if (typeof node.value === 'number') add('number', node, `(${node.raw} + 1)`)
      if (typeof node.value === 'boolean') add('boolean', node, String(!node.value))
    },
    ExpressionStatement: (/** @type {any} */ node) => {
      if (!node.directive && !isExport(node.expression)) add('statement', node, ';')
    },
    ReturnStatement: (/** @type {any} */ node) => {
      if (node.argument && node.argument.name !== 'undefined') add('return', node.argument, 'undefined')
    }
  })
  return found.sort((a, b) => a.start - b.start || a.end - b.end)
}

/** `'a' + b` has no other operator that means anything. @param {any} node @returns {boolean} */
function isString (node) {
  return node.type === 'TemplateLiteral' || typeof node.value === 'string' || (node.type === 'BinaryExpression' && node.operator === '+' && (isString(node.left) || isString(node.right)))
}

/** @param {any} expression */
function isExport (expression) {
  return expression.type === 'AssignmentExpression' && expression.left.object?.name === 'module'
}

module.exports = { mutantsOf }
