'use strict'

/** @import { Sampled } from '.' */
/** @import { Answers, Does } from '../messages' */
/** @import { WorkerHandle } from '../primary/workers/worker-handle' */
/** @import { Acceptor } from '../worker/accepting/acceptor' */

/**
 * The contract between the kernel and a feature's parts, in the primary and in a worker.
 *
 * @typedef {object} PrimaryPart what the kernel calls in each feature that has it; what one feature alone has is called
 *   by that feature's name, in lib/primary/features.js
 * @property {(worker: WorkerHandle) => void} [connect] called with each worker that is spawned
 * @property {(worker: WorkerHandle) => (at: number) => Sampled | Promise<Sampled>} [probe] called with each worker that
 *   is ready, or stands by: returns what reads what is added to a sample
 * @property {Record<string, (slot: number, how: never) => Promise<object>>} [commands] as `commands` names them
 * @property {() => unknown} [describe] plain data for status()
 * @property {() => void} [wake] the machine has slept: readings over that time say nothing
 *
 * @typedef {{ url: string, headers: Record<string, unknown>, socket: { remoteAddress?: string } }} Asked what is read
 *   of a request; headers by name in lower case
 *
 * @typedef {import('../worker/enter').Parts & Beside} WorkerKernel the parts of a worker: a feature calls the one that
 *   does what it wants
 *
 * @typedef {object} Beside what a feature has beside them
 * @property {(listener: (hasMarkSweep: boolean) => void) => () => void} onCollected after collections, until it ends
 * @property {number} beatMs between two heartbeats
 * @property {(fn: () => unknown) => void} onDrain as in the worker API
 * @property {typeof import('../worker/call-app').callApp} callApp
 * @property {() => import('../worker/connections/connection').Exchange | null} currentExchange whose code runs; a
 *   feature that is on sets it, or none
 *
 * @typedef {object} WorkerPart
 * @property {() => Record<string, unknown>} [figures] for the heartbeat: the fields of `beat`
 * @property {() => void} [beat] called after each heartbeat
 * @property {(acceptor: Acceptor) => void} [watch] called with each, before its server listens
 * @property {(deadlineMs: number, released: Promise<unknown>) => void} [leave] called as this worker begins to drain;
 *   `released`: what the app does in onDrain() is done
 * @property {() => void} [endCalls] the primary has exited, and answers no more
 * @property {() => void} [adopted] another primary has this worker, and knows nothing of it yet
 * @property {() => Promise<unknown>} [drained] called when the drain is over; this process is kept until it resolves,
 *   or until the drain timeout
 * @property {{ [Verb in keyof Answers]?: (fields: Does[Verb]) => Answers[Verb] }} [tasks] done out of rotation: each
 *   holds this thread
 * @property {Record<string, (...args: any[]) => unknown>} [api] the functions that `api` names; calls made before this
 *   part was there follow
 */

module.exports = {}
