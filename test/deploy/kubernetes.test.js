'use strict'

/**
 * examples/deploy/kubernetes and docker: valid by the schemas of Kubernetes, and their figures agree with the options.
 */

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const t = require('tap')
const { parseAllDocuments } = require('yaml')
const { OPTIONS } = require('../../lib/tables/options')
const { resolveOptions } = require('../../lib/tables/resolved-options')
const { BIN } = require('../support/fleet')

const FOLDER = path.join(__dirname, '..', '..', 'examples', 'deploy')
const MiB = 1024 ** 2
const [deployment, service, podMonitor] = ['deployment.yaml', 'podmonitor.yaml'].flatMap(file =>
  parseAllDocuments(fs.readFileSync(path.join(FOLDER, 'kubernetes', file), 'utf8')).map(document => document.toJS()))
const { spec: pod } = deployment.spec.template
const [container] = pod.containers

/** @param {string[]} args @returns {Record<string, string | true>} the options by name */
function optionsIn (args) {
  const found = OPTIONS.map(({ name, flag }) => ({ name, takesValue: flag.includes(' '), at: args.indexOf(flag.split(' ')[0]) })).filter(({ at }) => at !== -1)
  return Object.fromEntries(found.map(({ name, takesValue, at }) => [name, takesValue ? args[at + 1] : true]))
}

t.test('the objects are valid by the schemas', async t => {
  const { Deployment } = await import('kubernetes-models/apps/v1/Deployment')
  const { Service } = await import('kubernetes-models/v1/Service')
  const { PodMonitor } = await import('@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor')
  for (const [object, Model] of /** @type {const} */ ([
    [deployment, Deployment], [service, Service], [podMonitor, PodMonitor]
  ])) {
    t.doesNotThrow(() => new Model(object).validate(), object.kind)
  }
  t.throws(() => new Deployment({ ...deployment, spec: { ...deployment.spec, replicas: 'two' } }).validate(), 'the schemas are strict')
  t.throws(() => new PodMonitor({ ...podMonitor, spec: { podMetricsEndpoints: 'admin' } }).validate())
})

t.test('the objects fit together', async t => {
  const labels = deployment.spec.template.metadata.labels
  t.same([
    deployment.spec.selector.matchLabels, service.spec.selector, podMonitor.spec.selector.matchLabels
  ], [labels, labels, labels])
  const ports = Object.fromEntries(container.ports.map((/** @type {any} */ { name, containerPort }) =>
    [name, containerPort]))
  t.ok(service.spec.ports[0].targetPort in ports)
  t.ok(podMonitor.spec.podMetricsEndpoints[0].port in ports)
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) t.equal(container[probe].httpGet.port, 'admin', probe)
  t.equal(optionsIn(container.args).admin, `0.0.0.0:${ports.admin}`)
})

t.test('the grace period is the longest stop and preStop, and the memory is enough for a replacement beside the fleet', async t => {
  const options = resolveOptions(optionsIn(container.args), { parallelism: 2 })
  const preStopMs = Number(container.lifecycle.preStop.exec.command[1]) * 1000
  t.equal(pod.terminationGracePeriodSeconds * 1000, preStopMs + options.stopTimes.totalMs)
  const limit = Number(/^(\d+)Mi$/.exec(container.resources.limits.memory)?.[1]) * MiB
  t.equal((options.workers + options.maxSurge) * Number(options.hardRssBytes) + options.sizing.primaryBytes, limit)
})

t.test('the command line of the container is valid', async t => {
  const { status, stderr } = spawnSync(process.execPath, [BIN, '--print-config', ...container.args], { encoding: 'utf8' })
  t.same([status, stderr], [0, ''])
})

for (const file of ['Dockerfile', 'Dockerfile.alpine']) {
  t.test(`in the image of ${file} recycle is PID 1, with a valid command line, and gets SIGTERM; what is published is reached`, async t => {
    const text = fs.readFileSync(path.join(FOLDER, 'docker', file), 'utf8')
    const of = (/** @type {string} */ instruction) => [...text.matchAll(new RegExp(`^${instruction} (.*)$`, 'gm'))].map(([, rest]) => rest)
    // The form without a shell
    const [program, ...args] = [...JSON.parse(of('ENTRYPOINT')[0]), ...JSON.parse(of('CMD')[0])]
    t.equal(program, 'recycle')
    const { status, stderr } = spawnSync(process.execPath, [BIN, '--print-config', ...args], { encoding: 'utf8' })
    t.same([status, stderr, of('STOPSIGNAL')], [0, '', ['SIGTERM']])
    t.same(of('USER'), ['node'], 'not root')
    const [ports, admin] = [of('EXPOSE')[0].split(' '), args[args.indexOf('--admin') + 1]]
    t.ok(ports.includes(admin.split(':')[1]) && admin.startsWith('0.0.0.0:'), 'what is exposed is not on loopback')
    t.match(of('HEALTHCHECK')[0], `http://127.0.0.1:${admin.split(':')[1]}/healthz`)
    const known = ['HEALTHCHECK', 'FROM', 'RUN', 'WORKDIR', 'COPY', 'ENV', 'USER', 'EXPOSE', 'STOPSIGNAL', 'ENTRYPOINT', 'CMD', '#']
    t.same(text.split('\n').filter(line => line !== '' && !known.some(word => line.startsWith(`${word} `))), [])
  })
}
