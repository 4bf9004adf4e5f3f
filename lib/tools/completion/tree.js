'use strict'

/** Completions by place, from commander's tree of commands and from the tables of options. */

const { OPTIONS } = require('../../tables/options')
const { DRILL_OPTIONS } = require('../drill/options')

/**
 * @typedef {object} Place a command, and what may follow it
 * @property {string} name '' for `recycle` itself
 * @property {string} about @property {Flag[]} flags
 * @property {Operand[]} operands the last operand may repeat
 * @property {boolean} passesThrough what follows the first operand belongs to the app
 *
 * @typedef {Value & { names: string[], takesValue: boolean, about: string }} Flag
 * @typedef {Value & { about: string }} Operand
 * @typedef {{ words: readonly string[], isFile: boolean }} Value
 */

const KINDS = new Map([...OPTIONS, ...DRILL_OPTIONS].map(({ long, kind }) => [long, kind]))
const FILES = /^[<[](app|args|file|page|path)\b/ // the app's own arguments may be anything: files are the best guess
const WORDS = /\|(none)>$/

/** @param {import('commander').Command} program @returns {Place[]} `recycle` itself first, then its commands */
function placesOf (program) {
  const help = program.createHelp()
  const commands = help.visibleCommands(program)
  const names = commands.map(command => command.name())
  return [program, ...commands].map(command => ({
    name: command === program ? '' : command.name(),
    about: textOf(command.description()),
    flags: help.visibleOptions(command).map(flagOf),
    operands: command.registeredArguments.map(operandOf).map(operand =>
      command.name() === 'help' ? { ...operand, words: names } : operand),
    passesThrough: Boolean(/** @type {any} */ (command)._passThroughOptions)
  }))
}

/** @param {import('commander').Option} option @returns {Flag} */
function flagOf ({ short, long, flags, description, required, optional, argChoices }) {
  const kind = KINDS.get(long ?? '')
  const placeholder = flags.split(' ').at(-1) ?? ''
  return {
    names: [short, long].filter(name => name !== undefined && name !== null),
    takesValue: required || optional,
    about: textOf(description),
    words: argChoices ?? kind?.words ?? WORDS.exec(placeholder)?.slice(1) ?? [],
    isFile: kind ? kind.isFile === true : FILES.test(placeholder)
  }
}

/** @param {import('commander').Argument} argument @returns {Operand} */
function operandOf (argument) {
  return {
    about: textOf(argument.description), words: argument.argChoices ?? [], isFile: FILES.test(`<${argument.name()}`)
  }
}

/** A description in one line, without the default. @param {string} description */
const textOf = description => description.replace(/ \(default: .*\)$/s, '').replace(/\s+/g, ' ')

module.exports = { placesOf }
