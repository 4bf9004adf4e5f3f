'use strict'

// The Next.js app of test/next, built by `next build`: a page that is rendered for each request, and a route. In a
// thread (Watt) no process may change its folder.
const http = require('node:http')
const path = require('node:path')
const { isMainThread } = require('node:worker_threads')
const { signRoster } = require('../../support/sign-roster')

const OUT = path.join(__dirname, '..', '..', '..', 'node_modules', '.cache', 'recycle-next', '.next', 'standalone')

process.env.NODE_ENV = 'production'
if (isMainThread) process.chdir(OUT)
const { config } = require(path.join(OUT, '.next', 'required-server-files.json'))
process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config)
const app = require(require.resolve('next', { paths: [OUT] }))({ dev: false, dir: OUT, conf: config, hostname: 'localhost', port: Number(process.env.PORT) })
app.prepare().then(() => {
  const handle = app.getRequestHandler()
  http.createServer((request, response) => {
    request.url = request.url === '/slow' ? '/route' : '/rendered'
    handle(request, response)
  }).listen(process.env.PORT, signRoster)
})
