'use strict'

/** @import { Flag, Place, Value } from './tree' */

/** A completion script for fish. @param {Place[]} places @returns {string} */
function fishScript (places) {
  const commands = places.slice(1)
  const passing = places.filter(place => place.passesThrough)
  return `# fish completion of recycle

# The command before the cursor and the number of its operands: "drill 1". No command: "- 0".
function __recycle_place
  set -l command -
  set -l operands 0
  set -l flag ''
  for word in (commandline -opc)[2..-1]
    if test -n "$flag"
      set flag ''
    else if test $operands -gt 0; and contains -- $command ${passing.map(nameOf).join(' ')}
      set operands (math $operands + 1)
    else if string match -q -- '-*' $word
      contains -- "$command $word" ${places.flatMap(place => valued(place)).map(quote).join(' ')}; and set flag $word
    else if test $command = -; and test $operands = 0; and contains -- $word ${commands.map(nameOf).join(' ')}
      set command $word
    else
      set operands (math $operands + 1)
    end
  end
  echo $command $operands
end

function __recycle_at
  string match -q -- $argv[1] (__recycle_place)
end

complete -c recycle -f
${commands.map(({ name, about }) => `complete -c recycle -n "__recycle_at '- 0'" -a ${name} -d ${quote(about)}`)
  .join('\n')}
${places.flatMap(place => [...place.flags.map(flag => lineOf(place, flag)), ...operandsOf(place)]).join('\n')}
`
}

/** @param {Place} place */
const nameOf = ({ name }) => name || '-'

/** @param {Place} place */
function valued (place) {
  return place.flags.filter(flag => flag.takesValue).flatMap(flag => flag.names.map(name => `${nameOf(place)} ${name}`))
}

/** @param {Place} place @param {Flag} flag */
function lineOf (place, { names, takesValue, about, ...value }) {
  const flags = names.map(name => name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)
  const where = `${nameOf(place)} ${place.passesThrough ? '0' : '*'}`
  return `complete -c recycle -n "__recycle_at '${where}'" ` +
    `${flags.join(' ')}${takesValue ? ` -r ${valueOf(value)}` : ''} -d ${quote(about)}`
}

/** The last operand may repeat. @param {Place} place */
function operandsOf (place) {
  return place.operands
    .map((operand, i) => ({ operand, where: `${nameOf(place)} ${i === place.operands.length - 1 ? '*' : i}` }))
    .filter(({ operand: { words, isFile } }) => words.length > 0 || isFile)
    .map(({ operand, where }) => `complete -c recycle -n "__recycle_at '${where}'" ${valueOf(operand)}`)
}

/** @param {Value} value */
function valueOf ({ words, isFile }) {
  return [isFile ? '-F' : '-f', ...words.length > 0 ? [`-a ${quote(words.join(' '))}`] : []].join(' ')
}

/** @param {string} text */
const quote = text => `'${text.replace(/[\\']/g, '\\$&')}'`

module.exports = { fishScript }
