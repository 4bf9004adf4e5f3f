'use strict'

const { badUsage } = require('../core/errors')
const { addFleetName, addFleetOptions, withFleet } = require('./fleet')
const { complain, print } = require('./print')
/** @import { Command } from 'commander' */
/** @import { Client } from '../control/client' */

const POLL_MS = 1000
const DRAW_MS = 50
const EVENTS = 50

/** `recycle top [name]`. @param {Command} program */
function addTop (program) {
  const command = program.command('top')
    .description('Shows the state of each worker of a fleet, live.')
    .addHelpText('after', '\nKeys: q quits, the arrows select a worker, r recycles it.')
  addFleetName(addFleetOptions(command)).action(() => top(command))
}

/** @param {Command} command */
async function top (command) {
  const { stdin, stdout } = process
  if (!stdin.isTTY || !stdout.isTTY) {
    throw badUsage('recycle top needs a terminal; recycle status prints the same once')
  }
  let isLeft
  do isLeft = await topOfPrimary(command); while (isLeft)
}

/** @param {Command} command @returns {Promise<boolean>} another primary has taken the fleet over */
async function topOfPrimary (command) {
  const { stdin, stdout } = process
  return withFleet(command, async (client, name) => {
    const { FleetView } = require('../tools/top/fleet-view')
    const { Screen } = require('../tools/top/screen')
    const fleet = new FleetView()
    fleet.update(await client.call('status'), performance.now())
    const screen = await Screen.open(stdin, stdout)
    const end = await watch(client, fleet, screen).finally(() => screen.close())
    if (end === 'stopped') print(`The fleet ${name} has stopped`)
    if (end === 'gone') {
      complain(`recycle: the fleet ${name} is gone`)
      process.exitCode = 1
    }
    return end === 'left'
  })
}

/**
 * @param {Client} client @param {import('../tools/top/fleet-view').FleetView} fleet
 * @param {import('../tools/top/screen').Screen} screen @returns {Promise<'quit' | 'stopped' | 'left' | 'gone'>}
 */
async function watch (client, fleet, screen) {
  const { picture } = require('../tools/top/picture')
  const colors = process.stdout.hasColors()
  let message = ''
  /** @type {NodeJS.Timeout | undefined} */
  let drawing
  const draw = () => {
    clearTimeout(drawing)
    drawing = undefined
    screen.draw(picture(fleet, { columns: screen.columns, rows: screen.rows, colors, now: performance.now(), message }))
  }
  const drawSoon = () => { drawing ??= setTimeout(draw, DRAW_MS) }
  const say = (/** @type {string} */ text) => {
    message = text
    drawSoon()
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    up: () => fleet.move(-1),
    down: () => fleet.move(1),
    r: () => recycle(client, fleet.selected?.worker.slot, say),
    'ctrl-z': () => screen.suspend()
  }
  /** @type {Promise<'quit'>} */
  const quit = new Promise(resolve => screen.on('key', key => {
    if (key === 'q' || key === 'ctrl-c') return resolve('quit')
    message = ''
    keys[key]?.()
    draw()
  }))
  screen.on('resize', draw)

  let isAsking = false
  const end = client.follow(line => {
    fleet.note(line)
    drawSoon()
  }, { last: EVENTS }).then(isLeft => isLeft ? 'left' : 'stopped', () => 'gone')
  const timer = setInterval(async () => {
    if (!isAsking) {
      isAsking = true
      const status = await client.call('status').catch(() => null) // follow reports that the fleet is gone
      isAsking = false
      if (status) fleet.update(status, performance.now())
    }
    draw()
  }, POLL_MS)
  draw()
  try {
    return await Promise.race([quit, /** @type {Promise<'stopped' | 'left' | 'gone'>} */ (end)])
  } finally {
    clearInterval(timer)
    clearTimeout(drawing)
  }
}

/** @param {Client} client @param {number | null | undefined} slot @param {(text: string) => void} say */
async function recycle (client, slot, say) {
  if (slot === null || slot === undefined) return say('a standby has no slot: recycle replaces workers by slot')
  say(`recycling slot ${slot}`)
  try {
    await client.call('recycle', { target: slot })
    say(`recycled slot ${slot}`)
  } catch (error) {
    say(/** @type {Error} */ (error).message)
  }
}

module.exports = { addTop }
