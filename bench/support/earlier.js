'use strict'

/**
 * What an earlier run has left, for one that goes on with it. Ratios are taken within a round, so what is kept of a group
 * is whole rounds, taken on one machine; which one, each group says. On another machine the same group is begun anew, and
 * stands beside it.
 */

const { BadFlag } = require('./flags')
const { isSameMachine } = require('./machine')

/** @typedef {ReturnType<typeof import('./machine').describeMachine>} Machine @typedef {Record<string, any>} Figures */
/** @typedef {Omit<import('./results').Group, 'subjects'> & { machine: Machine, subjects: { name: string, rounds: Figures[] }[] }} Group */

class Earlier {
  #settings
  /** @type {Group[]} */
  #groups
  #machine

  /** @param {any} results a file's; null: there are none @param {Machine} machine that this run is on, and the Node that it is by */
  constructor (results, machine) {
    this.#settings = results?.settings ?? null
    this.#groups = (results?.groups ?? []).map((/** @type {any} */ group) => ({ ...group, machine: group.machine ?? results.machine }))
    this.#machine = machine
  }

  /**
   * @param {{ name: string, subjects: Record<string, unknown> }[]} chosen the groups of this run
   * @throws {BadFlag} figures would be lost
   */
  assertGoesOn (chosen) {
    for (const { name, subjects } of chosen) {
      const lost = this.#subjectsOf(name).filter(subject => subject.rounds.some(Boolean) && !subjects[subject.name])
      if (lost.length) throw new BadFlag(`--resume goes on with all that a group was measured with; "${name}" has ${lost.map(({ name }) => name).join(', ')} too`)
    }
  }

  /** The settings, with what the flags in `selects` have chosen so far. @param {Record<string, any>} settings @param {string[]} selects */
  settingsWith (settings, selects) {
    if (!this.#settings) return settings
    const all = selects.map(name => [name, union(this.#settings[name] ?? '', settings[name])])
    return { ...settings, ...Object.fromEntries(all) }
  }

  /**
   * The rounds in which everybody was measured, on this machine.
   *
   * @param {string} group @param {string[]} names of its subjects
   * @returns {{ machine: Machine | null, subjects: Group['subjects'] }} `machine` as it was then; null where there are none
   */
  keptOf (group, names) {
    const found = names.map(name => ({ name, rounds: this.#subjectsOf(group).find(subject => subject.name === name)?.rounds ?? [] }))
    const subjects = found.map(({ name, rounds }) => ({ name, rounds: rounds.filter((_, round) => isWhole(found, round)) }))
    return { machine: subjects.some(({ rounds }) => rounds.length) ? this.#groupOf(group)?.machine ?? null : null, subjects }
  }

  /**
   * A group of this run; or what there was of it before, as long as this run, which may have more subjects, has no whole round.
   *
   * @template {Group} T
   * @param {T} group
   * @returns {T | Group}
   */
  orKept (group) {
    const hasOne = group.subjects[0].rounds.some((_, round) => isWhole(group.subjects, round))
    return hasOne ? group : this.#groupOf(group.name, group.machine) ?? group
  }

  /** The groups that this run leaves alone. @param {{ name: string }[]} chosen @returns {Group[]} */
  others (chosen) {
    const ours = chosen.map(({ name }) => this.#groupOf(name))
    return this.#groups.filter(group => !ours.includes(group))
  }

  /** @param {string} name @param {Machine} [machine] */
  #groupOf (name, machine = this.#machine) {
    return this.#groups.find(group => group.name === name && isSameMachine(group.machine, machine))
  }

  /** @param {string} group */
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
