'use strict'

/**
 * `recycle upgrade`: another primary, of the code and the Node.js that are on disk now, takes the fleet over. What the
 * two do is the kernel's, in lib/primary/succession; when there is an upgrade, and what is said of it, is here.
 */

/** @import { Progress, Supervised } from '../../operate/control-verbs' */

/**
 * @typedef {object} Commands
 * @property {(how?: { node?: string }) => Promise<import('../../lines').JournalLine<'fleet.left'>>} upgrade
 *   has another primary, of the code and the Node.js that are on disk now, take the fleet over; this one ends with
 *   `stopped`. `node`: the file of another Node.js. Resolves with the journal's `fleet.left`, when the new primary runs
 *   the fleet and the old workers are gone. Throws RECYCLE_NOT_UPGRADED, RECYCLE_UPGRADED, RECYCLE_STOPPED
 */

/**
 * @typedef {object} Verb by which workers are replaced: it waits for their drains
 * @property {(kinds: import('..').ArgKinds) => import('..').Args} args
 * @property {() => CarryOut} carryOut loads it: resolves with the verb's result; `recycled`: journal lines
 * @property {string} [signal] to the primary, which has the same done
 * @property {string} help
 * @property {[flags: string, help: string, read: (text: string) => unknown][]} flags options of the command, named as
 *   `args`
 * @property {(result: Record<string, unknown>) => string} say what has been done, after the fleet's name
 *
 * @typedef {(supervisor: Supervised, args: Record<string, unknown>, progress: Progress, during: typeof
 *   import('../../operate/control-verbs').during) => Promise<Record<string, unknown> & { recycled: Record<string,
 *   unknown>[] }>} CarryOut
 *
 * @typedef {object} Succession the kernel's, of a primary by another one; see lib/primary/succession. The feature says
 *   when there is one, and what it is called
 * @property {import('..').LeftFor} reason of what is replaced and scaled for it
 * @property {string} command that begins it, as users write it
 * @property {{ begins: 'fleet.upgrade', failed: 'fleet.upgrade-failed', leads: 'fleet.upgraded' }} events
 * @property {(about: ReturnType<typeof import('../../primary/succession/program').aboutThisProcess>) => string | null}
 *   whyNot null: this one can be left
 */

/** @type {Readonly<import('..').Feature & { verbs: Record<string, Verb>, succession: Succession }>} */
module.exports = Object.freeze({
  name: 'upgrade',
  options: () => [],
  group: '',
  isOn: () => true, // for the command
  primary () {
    // At the start: later the files on disk may be another version's
    require('./verb')
    return parts => ({ upgrade: (/** @type {any} */ how) => parts.handover.begin(how) })
  },
  verbs: {
    upgrade: {
      args: ({ file }) => ({ node: file }),
      carryOut: () => require('./verb').upgrade,
      signal: 'SIGUSR2',
      help: 'Replaces the supervisor and every worker by ones that run the code, ' +
        'and the Node.js, that are on disk now.',
      flags: [['--node <file>', 'run another Node.js than that of the command line by which the fleet was started',
        file => require('node:path').resolve(file)]],
      // A unit or a shell that has other ones by now is not asked
      say: ({ pid }) => `has a new supervisor, pid ${pid}, with the command line and environment of the one before`
    }
  },
  succession: {
    reason: 'upgrade',
    command: 'recycle upgrade',
    events: { begins: 'fleet.upgrade', failed: 'fleet.upgrade-failed', leads: 'fleet.upgraded' },
    whyNot: about => require('./verb').whyNoUpgrade(about)
  },
  events: {
    'fleet.upgrade': { sentence: ({ pid, node }) => `upgrade: a new supervisor starts (${pid}) with ${node}` },
    'fleet.upgrade-failed': {
      level: 'warn',
      sentence: ({ why }) => `no upgrade: the new supervisor does not run the fleet: ${why}; this one does as before`
    },
    'fleet.upgraded': {
      sentence: ({ pid, oldPid, node }) => `upgraded: supervisor ${oldPid} → ${pid}, Node.js ${node}`
    }
  }
})
