'use strict'

/** A receiver of OpenTelemetry's protocol over HTTP, in JSON, as a collector is one: it keeps spans and metrics. */

const http = require('node:http')

/**
 * @param {any} t tap's
 * @returns {Promise<{ url: string, spans: { pid: number, name: string, kind: number, attributes: Record<string,
 *   any> }[], metrics: { pid: number, name: string, points: any[] }[] }>}
 */
async function startCollector (t) {
  /** @type {any[]} */
  const spans = []
  /** @type {any[]} */
  const metrics = []
  const server = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body)
    for (const { resource, scopeSpans } of resourceSpans) {
      const { 'process.pid': pid } = plain(resource.attributes)
      for (const span of scopeSpans.flatMap((/** @type {any} */ scope) => scope.spans)) {
        spans.push({ pid: Number(pid), name: span.name, kind: span.kind, attributes: plain(span.attributes) })
      }
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const { 'process.pid': pid } = plain(resource.attributes)
      for (const { name, ...metric } of scopeMetrics.flatMap((/** @type {any} */ scope) => scope.metrics)) {
        const [{ dataPoints }] = /** @type {any[]} */ (Object.values(metric).filter(value => value?.dataPoints))
        metrics.push({ pid: Number(pid), name, points: dataPoints })
      }
    }
    response.setHeader('content-type', 'application/json').end('{}')
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`, spans, metrics }
}

/** @param {{ key: string, value: Record<string, any> }[]} attributes */
function plain (attributes) {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

module.exports = { startCollector }
