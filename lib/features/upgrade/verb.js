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
  const recycled = await during(supervisor, ['recycled'], lines => progress({ done: Math.min(of, booted + lines.length), of, line: lines.at(-1) }), async () => {
    ({ pid } = await supervisor.upgrade({ node }))
  }).finally(() => supervisor.handover.removeListener('progress', onBooted))
  return { pid, recycled }
}

module.exports = { upgrade }
