'use strict'

const { h } = require('./element.cjs')
const { whole, time, day, plural } = require('./format.cjs')

/**
 * The verdict, and the facts of the run.
 * @param {any} report @param {string} kind of page @param {[string, string]} [headline] large, and what follows it
 */
function masthead ({ verdict, dropped, cut, app, listening = [], workers, node, from, to, client }, kind, headline) {
  const [count, unit] = dropped === null ? [cut, 'cut'] : [dropped, 'dropped']
  const [large, rest] = headline ?? [`${whole(count)} ${unit}`, verdict.text.replace(/^\S+ \S+ /, '')]
  const facts = [
    ...listening,
    workers === null ? null : plural(workers, 'worker'),
    node === null ? null : `Node ${node}`,
    client?.connections ? plural(client.connections, 'connection') : null,
    from === null ? null : `${day(from)}, ${time(to - from)}`
  ]
  return h('header.masthead', {}, [
    h('p.brand', {}, [h('i'), 'recycle', h('span', {}, [kind])]),
    h(`div.verdict.${verdict.ok ? 'good' : 'bad'}`, {}, [
      h('h1', {}, [h('em', {}, [large]), ` ${rest}`])
    ]),
    h('p.about', {}, [app === null ? null : h('code', {}, [app]), ...facts.filter(fact => fact !== null).map(fact =>
      h('span', {}, [fact]))])
  ])
}

function tile (name, value, detail = null, isBad = false) {
  return h(`div.tile${isBad ? '.bad' : ''}`, {},
    [h('dt', {}, [name]), h('dd', {}, [value]), detail ? h('dd.detail', {}, [detail]) : null])
}

function recyclesTile ({ recycles, byReason }) {
  const most = Object.entries(byReason).sort((a, b) => b[1] - a[1]).slice(0, 3)
  return tile('Recycles', whole(recycles), most.map(([reason, count]) => `${whole(count)} ${reason}`).join(', '))
}

const cutTile = ({ cut }) => tile('Cut', whole(cut), 'requests, at the drain timeout', cut > 0)

/** `crashing`: on the live page, what is said of it. */
function crashTile ({ crashes, connectionsAtCrashes, inFlightAtCrashes, crashing = null }) {
  const took = `${plural(connectionsAtCrashes, 'connection')}, ${plural(inFlightAtCrashes, 'request')} in flight`
  return tile('Crashes', whole(crashes), crashes > 0 ? crashing ?? took : null, crashes > 0)
}

/** Connections of workers that gave no account; shown only if there are any. */
function unaccountedTile ({ unaccounted }) {
  return unaccounted > 0
    ? tile('Unaccounted', whole(unaccounted), 'connections whose requests are not known', true)
    : null
}

module.exports = { masthead, tile, recyclesTile, cutTile, crashTile, unaccountedTile }
