'use strict'

/** @import { Place, Value } from './tree' */

/** A completion script for bash 3.2 (the version of macOS) and later. @param {Place[]} places @returns {string} */
function bashScript (places) {
  const commands = places.slice(1).map(place => place.name)
  const passing = places.filter(place => place.passesThrough)
  return '# bash completion of recycle: the words before the cursor determine the command, ' +
    `and whether a value is expected

_recycle_flags () {
  case $1 in
${places.map(({ name, flags }) => `    ${quote(name)}) words=${quote(flags.flatMap(flag => flag.names).join(' '))} ;;`)
  .join('\n')}
  esac
}

# The possible values of a flag; fails if the flag takes none.
_recycle_value () {
  case "$1 $2" in
${places.flatMap(place => valuesOf(place)).join('\n')}
    *) return 1 ;;
  esac
}

# The possible values of the nth operand of a command.
_recycle_operand () {
  case "$1 $2" in
${places.flatMap(place => operandsOf(place)).join('\n')}
  esac
}

_recycle () {
  local cur=\${COMP_WORDS[COMP_CWORD]} command='' operands=0 flag='' ended='' words='' files='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $flag ]]; then
      [[ $word == '=' ]] || flag=''
    elif [[ $word == -- && -z $ended ]]; then
      ended=1
    elif [[ $word == -* && -z $ended ]]; then
      _recycle_value "$command" "$word" && flag=$word
    elif [[ -z $command && $operands == 0 && -z $ended && ' ${commands.join(' ')} ' == *" $word "* ]]; then
      command=$word
    else
      operands=$((operands + 1))
      case $command in ${passing.map(place => quote(place.name)).join('|')}) ended=1 ;; esac
    fi
  done
  [[ $cur == '=' ]] && cur=''
  words='' files=''
  if [[ -n $flag ]]; then
    _recycle_value "$command" "$flag"
  elif [[ $cur == -* && -z $ended ]]; then
    _recycle_flags "$command"
  else
    _recycle_operand "$command" "$operands"
    [[ -z $command && $operands == 0 && -z $ended ]] && words="$words ${commands.join(' ')}"
  fi
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    compgen -W "$words" -- "$cur"
    [[ -n $files ]] && compgen -f -- "$cur"
  )
  [[ -z $files ]] || compopt -o filenames 2>/dev/null || true
}

complete -F _recycle recycle
`
}

/** @param {Place} place */
function valuesOf ({ name, flags }) {
  return flags.filter(flag => flag.takesValue).map(flag =>
    `    ${flag.names.map(flagName => quote(`${name} ${flagName}`)).join('|')}) ${assign(flag)} ;;`)
}

/** The last operand may repeat. @param {Place} place */
function operandsOf ({ name, operands }) {
  return operands.map((operand, i) =>
    `    ${quote(`${name} `)}${i === operands.length - 1 ? '*' : i}) ${assign(operand)} ;;`)
}

/** @param {Value} value */
const assign = ({ words, isFile }) => `words=${quote(words.join(' '))} files=${isFile ? '1' : ''}`

/** @param {string} text */
const quote = text => `'${text.replaceAll("'", "'\\''")}'`

module.exports = { bashScript }
