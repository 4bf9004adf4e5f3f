'use strict'

/**
 * `recycle upgrade`: another primary, of the code and the Node.js that are on disk now, takes the fleet over. What the
 * two do is the kernel's, in lib/primary/succession; when there is an upgrade, and what is said of it, is here.
 */

/**
 * @typedef {{}} Options it has none
 *
 * @typedef {object} Commands
 * @property {(how?: { node?: string }) => Promise<import('../../journal/events').Recorded<{ pid: number }>>} upgrade
 *   has another primary, of the code and the Node.js that are on disk now, take the fleet over; this one ends with
 *   `stopped`. `node`: the file of another Node.js. Resolves with the journal's `fleet.left`, when the new primary runs
 *   the fleet and the old workers are gone. Throws RECYCLE_NOT_UPGRADED, RECYCLE_UPGRADED, RECYCLE_STOPPED
 */

/** @type {Readonly<import('..').Feature>} */
module.exports = Object.freeze({
  name: 'upgrade',
  options: () => [],
  group: '',
  isOn: () => true, // for the command
  primary () {
    // At the start: later the files on disk may be another version's
    for (const part of ['./verb', './refusal']) require(part)
    return ({ succeed }) => ({ verbs: { upgrade: succeed } })
  },
  verbs: {
    upgrade: {
      args: ({ file }) => ({ node: file }),
      carryOut: () => require('./verb').upgrade,
      signal: 'SIGUSR2',
      help: 'Replaces the supervisor and every worker by ones that run the code, and the Node.js, that are on disk now.',
      flags: [['--node <file>', 'run another Node.js than that of the command line by which the fleet was started', file => require('node:path').resolve(file)]],
      say: ({ pid }) => `has a new supervisor, pid ${pid}`
    }
  },
  succession: {
    reason: 'upgrade',
    command: 'recycle upgrade',
    events: { begins: 'fleet.upgrade', failed: 'fleet.upgrade-failed', leads: 'fleet.upgraded' },
    whyNot: about => require('./refusal').whyNoUpgrade(about)
  },
  events: {
    'fleet.upgrade': { sentence: ({ pid, node }) => `upgrade: a new supervisor starts (${pid}) with ${node}` },
    'fleet.upgrade-failed': { level: 'warn', sentence: ({ why }) => `no upgrade: the new supervisor does not run the fleet: ${why}; this one does as before` },
    'fleet.upgraded': { sentence: ({ pid, oldPid, node }) => `upgraded: supervisor ${oldPid} → ${pid}, Node.js ${node}` }
  },
  scaleReasons: { upgrade: () => '' }
})
