'use strict'

const { fork } = require('node:child_process')
const path = require('node:path')

/** One of the programs beside this file, which ends with the bench. */
class Child {
  /** @param {string} file @param {(string | number)[]} args @param {Record<string, string>} [env] */
  constructor (file, args, env = {}) {
    this.process = fork(path.join(__dirname, file), args.map(String), { env: { ...process.env, ...env } })
    this.pid = /** @type {number} */ (this.process.pid)
    this.gone = new Promise((resolve, reject) => {
      this.process.once('error', reject)
      this.process.once('exit', (code, signal) => resolve(`${file} exited with ${signal ?? `code ${code}`}`))
    })
  }

  /** @param {(message: any) => boolean} isIt @returns {Promise<any>} @throws {Error} it exits before */
  async next (isIt = () => true) {
    return new Promise((resolve, reject) => {
      const look = (/** @type {any} */ message) => {
        if (!isIt(message)) return
        this.process.removeListener('message', look)
        resolve(message)
      }
      this.process.on('message', look)
      this.gone.then(how => reject(new Error(how)))
    })
  }

  /** @param {any} order @param {(message: any) => boolean} [isIt] @returns {Promise<any>} its answer */
  ask (order, isIt) {
    const answer = this.next(isIt)
    this.process.send(order)
    return answer
  }

  /** @param {any} order by which it ends */
  async stop (order) {
    if (this.process.connected) this.process.send(order)
    await this.gone
  }
}

module.exports = { Child }
