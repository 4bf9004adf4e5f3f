'use strict'

const fs = require('node:fs')
const { RecycleError } = require('../core/errors')

/** `recycle report <file...>`. @param {import('commander').Command} program */
function addReport (program) {
  program.command('report')
    .description('Says what a run file or journals hold: what was dropped, and by which recycle.')
    .argument('<file...>', 'run files of `recycle drill` and journals of one fleet; rotated and gzipped ones too')
    .option('--json', 'print one JSON object instead')
    .option('--html <page>', 'write a self-contained page as well')
    .addHelpText('after', '\nExit code: 0 nothing was dropped or cut, 1 something was or may have been, 2 a file cannot be read.')
    .action((files, given) => report(files, given))
}

/** @param {string[]} files @param {{ json?: boolean, html?: string }} given */
async function report (files, { json = false, html }) {
  const { readReport } = require('../report')
  const { report, series } = await readReport(files)
  if (html !== undefined) {
    const { renderPage } = require('../report/page')
    write(html, renderPage(report, series))
  }
  const { formatReport } = require('../report/table')
  const { stdout } = process
  stdout.on('error', () => {}) // `| head` has seen enough
  stdout.write(json ? `${JSON.stringify(report)}\n` : formatReport(report, { colors: stdout.isTTY && stdout.hasColors() }))
  if (html !== undefined && !json) stdout.write(`\nThe page is ${html}\n`)
  process.exitCode = report.verdict.ok ? 0 : 1
}

/** @param {string} file @param {string} text */
function write (file, text) {
  try {
    fs.writeFileSync(file, text)
  } catch (error) {
    throw new RecycleError('RECYCLE_BAD_OPTION', { option: '--html', given: file, accepts: `a file that can be written (${/** @type {Error} */ (error).message})` })
  }
}

module.exports = { addReport }
