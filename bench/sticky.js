'use strict'

/**
 * What `--sticky` costs: a request whose session is in the worker that has its connection, beside the same request
 * without the option; a request that has to move, beside one that has not; and clients behind nginx with upstream
 * keep-alive, where the sessions of many clients take turns on each connection.
 *
 *     npm run bench:sticky -- [--rounds 5] [--seconds 8] [--connections 30] [--workers 3] [--rate 400] [--quick]
 */

const path = require('node:path')
const { load } = require('./support/load')
const { nginxVersion, startNginx } = require('./support/nginx')
const { openBench } = require('./support/rounds')
const { startServer } = require('./support/server')
const { Usage } = require('./support/usage')

const SESSIONS = 200
const STICKY = { sticky: 'cookie:sid' }
const cookies = Array.from({ length: SESSIONS }, (_, i) => `theme=dark; sid=s%3A${String(i).padStart(32, '0')}.k3Jd0pQ2vXl8s7Yt; last=1`)

const bench = openBench({
  name: 'sticky',
  options: { seconds: '8', connections: '30', workers: '3', rate: '400' },
  quick: { seconds: '0.5', connections: '6', workers: '2', rate: '100' }
})
const { values } = bench
const [seconds, connections, workers, rate] = ['seconds', 'connections', 'workers', 'rate'].map(key => Number(values[key]))
const warmSeconds = values.quick ? 0 : 3

bench.run({
  groups: [
    {
      name: 'the session is here',
      by: 'cpuUs',
      beside: ['without'],
      subjects: {
        without: () => measure({}, { cookies }, 1),
        sticky: () => measure(STICKY, { cookies }, 1)
      }
    },
    {
      name: `${rate} requests/s`,
      by: 'p50',
      beside: ['a session a connection'],
      subjects: {
        'a session a connection': () => measure(STICKY, { cookies, rate }),
        'every request moves': () => measure(STICKY, { cookies, rate, alternate: true })
      }
    },
    ...nginxVersion()
      ? [{
          name: 'behind nginx, as fast as possible',
          by: 'rps',
          beside: ['without'],
          subjects: {
            without: () => measure({}, { cookies, front: true }),
            sticky: () => measure(STICKY, { cookies, front: true })
          }
        }]
      : []
  ],
  columns: [
    { key: 'rps', title: 'requests/s', ratio: true },
    { key: 'cpuUs', title: 'CPU µs/request', digits: 1, ratio: true, less: true },
    { key: 'p50', title: 'p50 ms', digits: 2, ratio: true, less: true },
    { key: 'p99', title: 'p99 ms', digits: 2, ratio: true, less: true },
    { key: 'dropped', title: 'dropped', total: true, less: true }
  ],
  goals: [
    { group: 'the session is here', subject: 'sticky', key: 'cpuUs', above: 3 },
    { key: 'dropped', atMost: 0 }
  ],
  plot: { key: 'p50', title: 'A request whose session is elsewhere', ratio: true, groups: 'requests/s' }
})

/**
 * @param {Record<string, any>} options @param {Record<string, any>} how of load(), and whether nginx is in `front`
 * @param {number} [size]
 */
async function measure (options, { front = false, ...how }, size = workers) {
  const server = await startServer('recycle.js', [JSON.stringify({ app: path.join(__dirname, 'apps', 'hello.js'), workers: size, ...options })])
  const nginx = front ? await startNginx(server.port) : null
  const usage = new Usage(server.pid)
  const figures = await load({ port: nginx?.port ?? server.port, connections, warmSeconds, seconds, ...how })
  const used = usage.stop()
  await nginx?.stop()
  await server.stop()
  return { ...figures, cpuUs: used && used.cpuMs * 1000 / figures.requests }
}
