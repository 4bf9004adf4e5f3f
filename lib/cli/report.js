'use strict'

const { badOption } = require('../core/errors')
const { writeRegular } = require('../journal/regular-file')
const { paper, print, printJson, write } = require('./print')

/** `recycle report <file...>`. @param {import('commander').Command} program */
function addReport (program) {
  program.command('report')
    .description('Reports what a run file or journals record: what was dropped, and by which recycle.')
    .argument('<file...>', 'run files of `recycle drill`, and journals of one fleet; also rotated and gzipped files')
    .option('--json', 'print one JSON object instead')
    .option('--html <page>', 'also write the report as a self-contained page')
    .addHelpText('after', '\nExit code: 0 nothing was dropped or cut, 1 something was or may have been, ' +
      '2 a file cannot be read, or the journal is incomplete.')
    .action(async (files, given) => { process.exitCode = await showReport(files, given) })
}

/** @param {string[]} files @param {{ json?: boolean, html?: string }} given @returns {Promise<number>} the exit code */
async function showReport (files, { json = false, html }) {
  const { readReport } = require('../tools/report')
  const { report, series } = await readReport(files)
  if (html !== undefined) {
    const { renderPage } = require('../tools/report/page')
    writePage(html, renderPage(report, series))
  }
  const { formatReport } = require('../tools/report/table')
  if (json) printJson(report)
  else write(formatReport(report, paper()))
  if (!json && html !== undefined) {
    write('\n')
    print(`The page is ${html}`)
  }
  return report.verdict.exitCode
}

/** Writes the file of `--html`. @param {string} file @param {string} text @throws {RecycleError} RECYCLE_BAD_OPTION */
function writePage (file, text) {
  try {
    writeRegular(file, text)
  } catch (error) {
    throw badOption('--html', file, `a file that can be written (${/** @type {Error} */ (error).message})`)
  }
}

module.exports = { addReport, showReport, writePage }
