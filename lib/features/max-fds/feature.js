'use strict'

/** `--max-fds`: a worker is replaced before it has no file descriptor left. */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'max-fds',
  options: ({ row, types }) => [
    row('maxFds', '--max-fds <n|percent>', types.orPercent(types.count(16, 1e9), 'the limit of the process'), null,
      'none',
      'open file descriptors, connections among them, before a worker is replaced, as a number or a percentage ' +
        'of its limit; Linux only')
  ],
  group: 'Memory and other limits:',
  isOn: options => options.maxFds !== null,
  refuse: () => require('./descriptors').hasDescriptors()
    ? null
    : { option: 'maxFds', given: 'a limit', accepts: 'none on this system: it has no /proc/<pid>/fd' },
  figures: {
    fds: {
      unit: 'count',
      metric: ['open_fds', 'With --max-fds: open file descriptors.'],
      limit: {
        reason: 'fds',
        budget: 'maxFds',
        whole: 'fdLimit',
        isOverBy: 'all',
        sentence: ({ figure, most }) => `${figure} open file descriptors, above ${most} (fds)`
      }
    }
  },
  primary: () => () => ({ probe: ({ pid }) => require('./descriptors').descriptorProbe(Number(pid)) })
})
