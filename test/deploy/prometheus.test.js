'use strict'

/**
 * examples/deploy/prometheus and grafana: their queries are PromQL, name series and labels that there are, and alert
 * when they should.
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { parse } = require('yaml')
const { check, LABELS } = require('../support/metrics-table')
const { lacking } = require('../support/program')

const FOLDER = path.join(__dirname, '..', '..', 'examples', 'deploy')
const RULES = path.join(FOLDER, 'prometheus', 'alerts.yml')
const skip = lacking('promtool')

const rules = parse(fs.readFileSync(RULES, 'utf8')).groups.flatMap((/** @type {any} */ group) => group.rules)
const dashboard = JSON.parse(fs.readFileSync(path.join(FOLDER, 'grafana', 'dashboard.json'), 'utf8'))
/** @type {any[]} */
const targets = dashboard.panels.flatMap((/** @type {any} */ panel) => panel.targets)

/** @param {'check' | 'test'} what @param {string} file of rules, or of tests of rules */
function promtool (what, file) {
  const { status, stdout, stderr } = spawnSync('promtool', [what, 'rules', file], { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

t.test('the check finds a series and a label that there are not', async t => {
  t.ok(LABELS.size > 25)
  t.same(check('sum by (slot) (rate(recycle_nothing{slot="0"}[1m]))').flaws, ['there is no recycle_nothing', 'recycle_nothing has no label slot', 'nothing in it has a label slot'])
  t.same(check('recycle_slots{state="x", job=~"$job"}').flaws, ['recycle_slots has no label state'])
  t.same(check('sum by (state, le) (recycle_workers{state="x"})').flaws, [])
})

t.test('the alerts name what there is', async t => {
  t.equal(rules.length, 8)
  for (const { alert, expr } of rules) t.same(check(expr).flaws, [], alert)
})

t.test('the queries of the dashboard name what there is, and are PromQL', { skip }, async t => {
  t.ok(targets.length > 20)
  for (const { expr } of targets) {
    const { series, flaws } = check(expr)
    t.ok(series.length > 0)
    t.same(flaws, [], expr)
  }
  for (const { query: { query } = { query: '' } } of dashboard.templating.list) t.same(check(query ?? '').flaws, [])
  const groups = [{ name: 'dashboard', rules: targets.map(({ expr }, i) => ({ record: `panel_${i}`, expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '1h') })) }]
  const folder = t.testdir({ 'rules.yml': JSON.stringify({ groups }) }) // JSON is YAML
  const { status, said } = promtool('check', path.join(folder, 'rules.yml'))
  t.equal(status, 0, said)
  t.match(said, `${targets.length} rules found`)
})

t.test('the panels of the dashboard do not overlap', async t => {
  /** @type {any[]} */
  const panels = dashboard.panels.map((/** @type {any} */ { title, gridPos }) => ({ title, ...gridPos }))
  const overlap = (/** @type {any} */ a, /** @type {any} */ b) =>
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
  t.same(panels.filter((a, i) => a.x + a.w > 24 || panels.some((b, j) => i < j && overlap(a, b))), [])
  t.equal(new Set(dashboard.panels.map((/** @type {any} */ { id }) => id)).size, dashboard.panels.length)
})

t.test('each alert comes when it should, and not in a fleet that is well', { skip }, async t => {
  const labels = 'job="shop", instance="a:9100"'
  /**
   * An hour and a half of a fleet of 4: series, with those that are given instead.
   *
   * @param {Record<string, string>} [other]
   */
  const fleet = (other = {}) => Object.entries({
    [`recycle_slots{${labels}}`]: '4x90',
    [`recycle_workers{${labels}, state="ready"}`]: '4x90',
    [`recycle_workers{${labels}, state="draining"}`]: '0x90',
    [`recycle_connections_cut_total{${labels}}`]: '0x90',
    [`recycle_connections_unaccounted_total{${labels}}`]: '0x90',
    [`recycle_worker_crashes_total{${labels}}`]: '0x90',
    [`recycle_replacements_failed_total{${labels}}`]: '0x90',
    [`recycle_recycles_total{${labels}, reason="rss"}`]: '0+0.4x90', // 24 an hour
    [`recycle_recycles_total{${labels}, reason="reload"}`]: '0+4x90',
    [`recycle_worker_event_loop_lag_seconds{${labels}, slot="0"}`]: '0.1x90',
    ...other
  }).map(([series, values]) => ({ series, values }))
  /** @type {Record<string, Record<string, string>>} */
  const ill = {
    RecycleRequestsCut: { [`recycle_connections_cut_total{${labels}}`]: '0x84 1x5' },
    RecycleRequestsUnaccounted: { [`recycle_connections_unaccounted_total{${labels}}`]: '0x84 3x5' },
    RecycleWorkersCrash: { [`recycle_worker_crashes_total{${labels}}`]: '0x84 1x5' },
    RecycleWorkersMissing: { [`recycle_workers{${labels}, state="ready"}`]: '4x80 3x9' },
    RecycleReplacementsFail: { [`recycle_replacements_failed_total{${labels}}`]: '0x80 0+1x9' },
    RecycleMemoryChurn: { [`recycle_recycles_total{${labels}, reason="rss"}`]: '0+1x90' },
    RecycleRouteLeaks: { [`recycle_leaking_route_bytes_per_request{${labels}, route="GET /orders"}`]: '50000x90' },
    RecycleEventLoopBlocked: { [`recycle_worker_event_loop_lag_seconds{${labels}, slot="0"}`]: '0.1x80 2x9' }
  }
  t.same(Object.keys(ill), rules.map((/** @type {any} */ { alert }) => alert))
  const names = (/** @type {string} */ alert) => ({ ...rules.find((/** @type {any} */ rule) => rule.alert === alert).labels, job: 'shop', instance: 'a:9100', ...(alert === 'RecycleRouteLeaks' && { route: 'GET /orders' }) })
  const expecting = (/** @type {string | null} */ ...alerts) => Object.keys(ill).map(alertname => ({ eval_time: '90m', alertname, exp_alerts: alerts.includes(alertname) ? [{ exp_labels: names(alertname) }] : [] }))
  const tests = [
    { interval: '1m', input_series: fleet(), alert_rule_test: expecting() },
    ...Object.entries(ill).map(([alert, other]) => ({ interval: '1m', input_series: fleet(other), alert_rule_test: expecting(alert) }))
  ]
  // Without their texts, which promtool would compare too.
  const groups = [{ name: 'recycle', rules: rules.map((/** @type {any} */ { annotations, ...rule }) => rule) }]
  const folder = t.testdir({
    'rules.yml': JSON.stringify({ groups }),
    'tests.yml': JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '1m', tests })
  })
  for (const { status, said } of [promtool('check', RULES), promtool('test', path.join(folder, 'tests.yml'))]) t.equal(status, 0, said)
})
