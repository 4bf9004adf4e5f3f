'use strict'

const os = require('node:os')

/** The machine of the measurement. */
function describeMachine () {
  const { node, v8 } = process.versions
  return {
    cpu: os.cpus()[0]?.model ?? process.arch,
    cpus: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    kernel: `${os.type()} ${os.release()}`,
    arch: process.arch,
    node: `v${node}`,
    v8,
    flags: [...process.execArgv, process.env.NODE_OPTIONS ?? ''].filter(Boolean).join(' '),
    load: os.loadavg().map(load => Math.round(load * 100) / 100)
  }
}

/** @typedef {ReturnType<typeof describeMachine>} Machine */

/** @param {Machine} machine */
function machineLine ({ cpu, cpus, memoryBytes, kernel, arch, node, flags, load }) {
  const memory = `${Math.round(memoryBytes / 1024 ** 3)} GiB`
  return `Node ${node}${flags ? ` ${flags}` : ''}, ${cpus} × ${cpu} (${arch}), ${memory}, ${kernel}, load average ${load.join(' ')}`
}

module.exports = { describeMachine, machineLine }
