'use strict'

const { writePage } = require('./page')
const { print, printJson, write } = require('./print')

/** `recycle report <file...>`. @param {import('commander').Command} program */
function addReport (program) {
  program.command('report')
    .description('Reports what a run file or journals record: what was dropped, and by which recycle.')
    .argument('<file...>', 'run files of `recycle drill`, and journals of one fleet; also rotated and gzipped files')
    .option('--json', 'print one JSON object instead')
    .option('--html <page>', 'also write the report as a self-contained page')
    .addHelpText('after', '\nExit code: 0 nothing was dropped or cut, 1 something was or may have been, ' +
      '2 a file cannot be read, or the journal is incomplete.')
    .action((files, given) => report(files, given))
}

/** @param {string[]} files @param {{ json?: boolean, html?: string }} given */
async function report (files, { json = false, html }) {
  const { readReport } = require('../tools/report')
  const { report, series } = await readReport(files)
  if (html !== undefined) {
    const { renderPage } = require('../tools/report/page')
    writePage(html, renderPage(report, series))
  }
  const { formatReport } = require('../tools/report/table')
  const { stdout } = process
  if (json) printJson(report)
  else write(formatReport(report, { colors: stdout.isTTY && stdout.hasColors() }))
  process.exitCode = report.verdict.exitCode
  if (json || html === undefined) return
  write('\n')
  print(`The page is ${html}`)
}

module.exports = { addReport }
