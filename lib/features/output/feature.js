'use strict'

/**
 * `--output lines`, `--prefix`: the workers' output passes through the primary, which keeps its lines whole, with the
 * slot before each.
 *
 * @typedef {{ output: 'inherit' | 'lines' }} Options where it is resolved
 */

/**
 * @typedef {{ ended: Promise<void>, settled: () => Promise<void> }} Passing `settled`: its worker has exited, and what
 *   it wrote has been passed on
 * @typedef {(stream: import('node:stream').Readable, to: import('../../primary/output').Output, slot: () => number |
 *   string) => Passing} PassOn takes the output of a worker, which is a pipe then
 */

/**
 * @typedef {object} Own
 * @property {(options: Record<string, unknown>) => Options} resolve
 * @property {(options: import('../../options').ResolvedOptions) => PassOn} passOn
 */

/** @type {Readonly<import('..').Feature & Own>} */
module.exports = Object.freeze({
  name: 'output',
  options: ({ row, types }) => [
    row('output', '--output <inherit|lines>', types.oneOf('inherit', 'lines'), null, 'inherit; lines with --prefix',
      "lines: the workers' output passes through the supervisor, which keeps their lines whole; " +
        'inherit: each worker writes by itself'),
    row('prefix', '--prefix', types.boolean(), false, 'off', "prefix each line of the workers' output with the slot")
  ],
  group: 'Output and control:',
  resolve: ({ output, prefix }) => ({ output: output ?? (prefix ? 'lines' : 'inherit') }),
  check ({ output, prefix }, { of, refuse }) {
    if (prefix && output === 'inherit') refuse('output', `lines with ${of('prefix').called}`)
  },
  isOn: ({ output }) => output === 'lines',
  passOn: ({ prefix }) => (stream, output, slot) =>
    new (require('./worker-output').WorkerOutput)(stream, output, prefix ? () => `[${slot()}] ` : () => '')
})
