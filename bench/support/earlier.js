'use strict'

/**
 * What an earlier run has left, for one that goes on with it. Ratios are taken within a round, so what is kept of a group
 * is whole rounds, taken on one machine; which one, each group says.
 */

const { BadFlag } = require('./flags')
const { isSameMachine } = require('./machine')

/** @typedef {ReturnType<typeof import('./machine').describeMachine>} Machine @typedef {Record<string, any>} Figures */

class Earlier {
  #results

  /** @param {any} results a file's; null: there are none */
  constructor (results) {
    this.#results = results
  }

  /**
   * @param {{ name: string, subjects: Record<string, unknown> }[]} chosen the groups of this run
   * @param {Machine} machine
   * @param {number} rounds wanted of each
   * @throws {BadFlag} figures would be lost, or mixed with another machine's
   */
  assertGoesOn (chosen, machine, rounds) {
    for (const { name, subjects } of chosen) {
      const lost = this.#subjectsOf(name).filter(subject => subject.rounds.some(Boolean) && !subjects[subject.name])
      if (lost.length) throw new BadFlag(`--resume goes on with all that a group was measured with; "${name}" has ${lost.map(({ name }) => name).join(', ')} too`)
      const { machine: other, subjects: [{ rounds: kept }] } = this.keptOf(name, Object.keys(subjects))
      if (other && kept.length < rounds && !isSameMachine(other, machine)) {
        throw new BadFlag(`--resume goes on with a group on the machine, and by the Node, that it was begun with; "${name}" was begun with Node ${other.node} on ${other.cpu}, ${other.kernel}`)
      }
    }
  }

  /** The settings, with what the flags in `selects` have chosen so far. @param {Record<string, any>} settings @param {string[]} selects */
  settingsWith (settings, selects) {
    if (!this.#results) return settings
    const all = selects.map(name => [name, union(this.#results.settings[name] ?? '', settings[name])])
    return { ...settings, ...Object.fromEntries(all) }
  }

  /**
   * The rounds in which everybody was measured, and where.
   *
   * @param {string} group @param {string[]} names of its subjects
   * @returns {{ machine: Machine | null, subjects: { name: string, rounds: Figures[] }[] }} `machine` is null where there are none
   */
  keptOf (group, names) {
    const found = names.map(name => ({ name, rounds: this.#subjectsOf(group).find(subject => subject.name === name)?.rounds ?? [] }))
    const subjects = found.map(({ name, rounds }) => ({ name, rounds: rounds.filter((_, round) => isWhole(found, round)) }))
    return { machine: subjects.some(({ rounds }) => rounds.length) ? this.#machineOf(this.#groupOf(group)) : null, subjects }
  }

  /**
   * A group of this run; or what there was of it before, as long as this run, which may have more subjects, has no whole round.
   *
   * @template {{ name: string, subjects: { rounds: Figures[] }[] }} T
   * @param {T} group
   * @returns {T}
   */
  orKept (group) {
    const hasOne = group.subjects[0].rounds.some((_, round) => isWhole(group.subjects, round))
    const before = this.#groupOf(group.name)
    return hasOne || !before ? group : { ...before, machine: this.#machineOf(before) }
  }

  /** The groups that this run leaves alone. @param {{ name: string }[]} chosen @returns {any[]} */
  others (chosen) {
    return (this.#results?.groups ?? [])
      .filter((/** @type {any} */ { name }) => !chosen.some(group => group.name === name))
      .map((/** @type {any} */ group) => ({ ...group, machine: this.#machineOf(group) }))
  }

  /** A group says so since there may be several. @param {any} group @returns {Machine} */
  #machineOf (group) {
    return group.machine ?? this.#results.machine
  }

  /** @param {string} name @returns {any} */
  #groupOf (name) {
    return this.#results?.groups.find((/** @type {any} */ group) => group.name === name)
  }

  /** @param {string} group @returns {{ name: string, rounds: Figures[] }[]} */
  #subjectsOf (group) {
    return this.#groupOf(group)?.subjects ?? []
  }
}

/** Everybody was measured in this round. @param {{ rounds: Figures[] }[]} subjects @param {number} round from 0 on */
function isWhole (subjects, round) {
  return subjects.every(({ rounds }) => rounds[round])
}

/** @param {string[]} lists with commas */
function union (...lists) {
  return [...new Set(lists.flatMap(list => list.split(',')).filter(Boolean))].join(',')
}

module.exports = { Earlier, isWhole }
