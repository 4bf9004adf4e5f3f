'use strict'

/* global devicePixelRatio */

const { h } = require('./element.cjs')
const { color } = require('./theme.cjs')
const tip = require('./tip.cjs')

/**
 * Marks on a plot, as a uPlot plugin. Spans are shaded and moments are lines on the canvas. Over each moment is a
 * button with a tooltip, accessible by pointer, touch, keyboard and screen reader. Moments close to each other share a
 * button.
 *
 * @typedef {import('./moment.cjs').Moment} Moment
 */

const APART_PX = 10
const LABEL_PX = 34
const MOST_SAID = 8
const RANK = ['stop', 'recycle', 'cut', 'drop', 'crash']

/** @param {() => { spans: { from: number, to: number }[], moments: Moment[] }} content current */
function marks (content) {
  let ordered = []
  /** By content, so that the button under the pointer stays when the plot is drawn again. */
  let buttons = new Map()
  return {
    hooks: {
      drawClear: [u => {
        const { spans, moments } = content()
        ordered = [...moments].sort((a, b) => a.t - b.t)
        shade(u, spans)
        rule(u, ordered)
      }],
      draw: [u => {
        const before = buttons
        buttons = new Map()
        const groups = groupsOf(u, ordered)
        for (const [i, { x, moments }] of groups.entries()) {
          const key = moments.map(({ t, short }) => `${t} ${short}`).join()
          const mark = before.get(key) ?? button(moments)
          before.delete(key)
          buttons.set(key, mark)
          mark.style.left = `${x}px`
          const [hasLeft, hasRight] =
            [x - (groups[i - 1]?.x ?? 0), (groups[i + 1]?.x ?? u.over.clientWidth) - x].map(room => room >= LABEL_PX)
          mark.dataset.number = hasLeft || hasRight ? numbersOf(moments) : ''
          mark.classList.toggle('numbered-left', !hasRight)
          if (!mark.isConnected) u.over.append(mark)
        }
        for (const mark of before.values()) {
          tip.hideFor(mark)
          mark.remove()
        }
      }]
    }
  }
}

function shade (u, spans) {
  const { ctx, bbox } = u
  ctx.save()
  ctx.fillStyle = color('shade')
  for (const { from, to } of spans) {
    const [left, right] = [from, to].map(t =>
      Math.min(Math.max(u.valToPos(t / 1000, 'x', true), bbox.left), bbox.left + bbox.width))
    if (right > bbox.left && left < bbox.left + bbox.width) {
      ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height)
    }
  }
  ctx.restore()
}

function rule (u, moments) {
  const { ctx, bbox } = u
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([])
  ctx.globalAlpha = 0.5
  let last = -1
  for (const { t, kind } of moments) {
    const x = Math.round(u.valToPos(t / 1000, 'x', true))
    if (x === last || x < bbox.left || x > bbox.left + bbox.width) continue
    last = x
    ctx.strokeStyle = color(kind)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

function groupsOf (u, moments) {
  const groups = []
  for (const moment of moments) {
    const x = u.valToPos(moment.t / 1000, 'x')
    if (!(x >= 0 && x <= u.over.clientWidth)) continue
    const last = groups.at(-1)
    if (last && x - last.x < APART_PX) last.moments.push(moment)
    else groups.push({ x, moments: [moment] })
  }
  return groups
}

/** @param {Moment[]} moments @returns {string} those of the table, where there is room for them */
function numbersOf (moments) {
  const ids = moments.flatMap(({ id }) => id === undefined ? [] : [id])
  return ids.length > 2 ? `${ids[0]} …` : ids.join(', ')
}

/** @param {Moment[]} moments at one place; the most severe one determines the shape */
function button (moments) {
  const { kind } = moments.reduce((a, b) => RANK.indexOf(b.kind) > RANK.indexOf(a.kind) ? b : a)
  const [heading, facts] = moments.length === 1 ? [moments[0].title, moments[0].facts] : several(moments)
  const show = event => tip.show(event.currentTarget, kind, heading, facts)
  return h(`button.mark.${kind}`, {
    type: 'button',
    'aria-label': [heading, ...facts.map(([name, value]) => `${name} ${value}`)].join(', '),
    mouseenter: show,
    focus: show,
    click: show,
    mouseleave: tip.hide,
    blur: tip.hide
  })
}

function several (moments) {
  const said = moments.slice(0, MOST_SAID).map(({ short, gist }) => [short, gist])
  const more = moments.length - said.length
  const heading = moments.every(({ kind }) => kind === 'drop')
    ? `${moments.length} requests dropped`
    : `${moments.length} events here`
  return [heading, more > 0 ? [...said, ['and', `${more} more`]] : said]
}

module.exports = { marks }
