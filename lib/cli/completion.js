'use strict'

const { Argument } = require('commander')
const { write } = require('./print')
/** @import { Place } from '../tools/completion/tree' */

/** The generator for each shell, loaded on demand. @type {Record<string, () => (places: Place[]) => string>} */
const SHELLS = {
  bash: () => require('../tools/completion/bash').bashScript,
  zsh: () => require('../tools/completion/zsh').zshScript,
  fish: () => require('../tools/completion/fish').fishScript
}

/** `recycle completion <shell>`. @param {import('commander').Command} program */
function addCompletion (program) {
  program.command('completion')
    .description('prints a completion script for your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', `
bash: recycle completion bash > ~/.local/share/bash-completion/completions/recycle
zsh:  recycle completion zsh > "\${fpath[1]}/_recycle"
fish: recycle completion fish > ~/.config/fish/completions/recycle.fish`)
    .action(shell => {
      const { placesOf } = require('../tools/completion/tree')
      write(SHELLS[shell]()(placesOf(program)))
    })
}

module.exports = { addCompletion }
