'use strict'

/** @import { Flag, Place, Value } from './tree' */

/** A completion script for zsh: a file in $fpath, or one to source. @param {Place[]} places @returns {string} */
function zshScript ([root, ...commands]) {
  return `#compdef recycle

_recycle_first () {
  local -a commands=(
${commands.map(({ name, about }) => `    ${quote(`${name}:${about.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  _describe -t commands command commands
  _files
}

${commands.map(functionOf).join('\n')}
_recycle () {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C -S -A '-*' \\
${root.flags.flatMap(specsOf).map(spec => `    ${spec} \\\n`).join('')}    '1: :_recycle_first' \\
    '*:: :->rest'
  [[ $state == rest ]] || return
  case $line[1] in
${commands.map(({ name }) => `    ${name}) _recycle_${name} ;;`).join('\n')}
    *) _files ;;
  esac
}

if [[ $funcstack[1] == _recycle ]]; then _recycle "$@"; else compdef _recycle recycle; fi
`
}

/** @param {Place} place */
function functionOf ({ name, flags, operands, passesThrough }) {
  const specs = [...flags.flatMap(specsOf), ...operands.map((operand, i) =>
    quote(`${i === operands.length - 1 ? '*' : i + 1}:${escape(operand.about) || ' '}:${actionOf(operand)}`))]
  return `_recycle_${name} () {
  _arguments -S${passesThrough ? " -A '-*'" : ''} \\
    ${specs.join(' \\\n    ')}
}
`
}

/** @param {Flag} flag @returns {string[]} a spec for each of its names */
function specsOf ({ names, takesValue, about, ...value }) {
  return names.map(name => takesValue
    ? quote(`*${name}${name.startsWith('--') ? '=' : '+'}[${escape(about)}]:value:${actionOf(value)}`)
    : quote(`*${name}[${escape(about)}]`))
}

/** @param {Value} value */
function actionOf ({ words, isFile }) {
  const list = `(${words.join(' ')})`
  if (words.length === 0) return isFile ? '_files' : ' '
  return isFile ? `{_alternative "words\\:word\\:${list}" "files\\:file\\:_files"}` : list
}

/** Escapes the characters that have a meaning in a spec. @param {string} text */
const escape = text => text.replace(/[\\:[\]]/g, '\\$&')

/** @param {string} text */
const quote = text => `'${text.replaceAll("'", "'\\''")}'`

module.exports = { zshScript }
