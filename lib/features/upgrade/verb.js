'use strict'

/** A new primary boots its workers, and then those of this one leave. @type {import('./feature').CarryOut} */
async function upgrade (supervisor, { node }, progress, during) {
  let booted = 0
  let of = 2 * supervisor.size
  const onBooted = (/** @type {{ done: number, of: number }} */ boot) => {
    booted = boot.done
    of = boot.of + supervisor.size
    progress({ done: booted, of })
  }
  supervisor.handover.on('progress', onBooted)
  let pid = 0
  const recycled = await during(supervisor, ['recycled'], lines =>
    progress({ done: Math.min(of, booted + lines.length), of, line: lines.at(-1) }), async () => {
    ({ pid } = await supervisor.upgrade({ node }))
  }).finally(() => supervisor.handover.removeListener('progress', onBooted))
  return { pid, recycled }
}

/** Inits of containers: they end with the process that they have started. */
const INITS = ['tini', 'docker-init', 'podman-init', 'catatonit', 'dumb-init']

/**
 * Why this process cannot leave the fleet to another one: what has started it would take its exit for the fleet's.
 * Pure.
 * @param {Parameters<import('./feature').Succession['whyNot']>[0]} process @returns {string | null} null: it can
 */
function whyNoUpgrade ({ pid, startedBy, init, env }) {
  if (pid === 1) return 'recycle is PID 1, and the container ends with it; start a container of the new version instead'
  if (startedBy === 1 && init !== null && INITS.includes(init)) {
    return `${init}, the init of this container, ends with the process that it has started, which is this one; ` +
      'start a container of the new version instead'
  }
  if (env.SYSTEMD_EXEC_PID === String(pid) && !env.NOTIFY_SOCKET) {
    return 'systemd would end the service with this process; with Type=notify and NotifyAccess=all in the unit ' +
      'it is told of the new one'
  }
  return null
}

module.exports = { upgrade, whyNoUpgrade }
