'use strict'

/**
 * Heap snapshots of a worker, out of rotation: at any time (`recycle heapdump <slot>`), and with
 * `--on-condemn heapdump` of a worker that is condemned for its memory, before it is recycled.
 */

/**
 * @typedef {import('../../lines').JournalLine<'heapdump'>} Snapshot
 *
 * @typedef {object} Commands
 * @property {(slot: number, how?: { file?: string, then?: 'recycle' }) => Promise<Snapshot
 *   & { recycled?: import('../../primary/recycling/recycler').Recycled }>} heapdump writes
 *   a heap snapshot of a worker, out of rotation; resolves with the journal's `heapdump` line, with `then` its
 *   `recycled` beside. `file`: a new one; by default in the working directory, named by slot, pid and time. `then`: the
 *   worker is replaced afterwards; where that fails, `details.written` of the error has the file. Throws
 *   RECYCLE_NO_SLOT, RECYCLE_UNWRITABLE, RECYCLE_NOT_DONE, RECYCLE_NOT_READY, RECYCLE_STOPPED
 */

const LONGEST_PATH = 8192

/** @type {Readonly<import('..').Feature & { tasks: Record<string, string> }>} */
module.exports = Object.freeze({
  name: 'heapdump',
  options: ({ row, types }) => [
    row('onCondemn', '--on-condemn <heapdump[:n]>', perDay(types), null, 'none',
      'heapdump: before a worker condemned for its memory is recycled, it writes a heap snapshot out of rotation; ' +
        'at most n a day, 1 by default', 'heapdumpsPerDay'),
    row('heapdumpDir', '--heapdump-dir <folder>', types.path(), 'heapdumps', 'heapdumps',
      'folder for the snapshots of --on-condemn; created if it does not exist, for this user alone'),
    row('heapdumpLimit', '--heapdump-limit <size>', types.size(), 4 * 1024 ** 3, '4GiB',
      'size that the snapshots in --heapdump-dir may reach; beyond it none is written', 'heapdumpLimitBytes')
  ],
  group: 'Memory and other limits:',
  isOn: () => true, // for the command
  refuse ({ heapdumpsPerDay, heapdumpDir }) {
    if (heapdumpsPerDay !== null) new (require('./primary').HeapdumpFolder)(heapdumpDir).open()
    return null
  },
  does: ({ text, count, duration }) => ({
    heapdump: { fields: { file: text(LONGEST_PATH) }, answer: { bytes: count, pauseMs: duration } }
  }),
  tasks: { heapdump: 'write a heap snapshot' },
  commands: ({ file, word }) => ({ heapdump: { file, then: word('recycle') } }),
  command: () => require('./command').addHeapdump,
  events: {
    heapdump: {
      sentence: (line, { worker, size, time }) =>
        `heap snapshot of ${worker(line)}${line.reason === 'rss' ? ', before it is recycled' : ''}: ${line.file}, ` +
          `${size(line.bytes)} in ${time(line.pauseMs)}`
    }
  },
  warnings: {
    heapdump: ({ slot, pid, folder, why }) =>
      `no heap snapshot of slot ${slot} (${pid}) in ${folder}, whose worker is recycled at once: ${why}`
  },
  primary: () => kernel => new (require('./primary').Heapdumps)(kernel),
  worker: true,
  status: { key: 'heapdumps' },
  report: 'heapdumps'
})

/**
 * @param {typeof import('../../core/option-types').types} types @returns {import('../../core/option-types').OptionKind}
 */
function perDay (types) {
  return {
    accepts: 'heapdump, or heapdump:n with a number of snapshots a day from 1 to 1000',
    value: 'number',
    schema: { type: 'string', pattern: '^heapdump(:\\d+)?$' },
    words: ['heapdump'],
    read: value => {
      const [, count = '1'] = /^heapdump(?::(\d+))?$/.exec(String(value)) ?? [null, '']
      return types.count(1, 1000).read(count)
    }
  }
}
