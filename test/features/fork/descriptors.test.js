'use strict'

const t = require('tap')
const { startMold, skip } = require('../../support/mold')

t.test('what the app opened before the fork is found and named', { skip }, async t => {
  const { heard: [{ nothing, found, port, clientPort, udpPort, six, pid, file }] } = await startMold(t, 'opens.js')
  t.same(nothing, [])
  t.same(found.sort(), [
    'a watch on files (inotify)',
    `a UDP socket on 127.0.0.1:${udpPort}`,
    `a TCP connection to 127.0.0.1:${port}`,
    `a TCP connection to 127.0.0.1:${clientPort}`,
    `a server on 127.0.0.1:${port}`,
    ...six ? [`a server on [::1]:${six}`] : [],
    `the Unix socket @recycle-mold-${pid}`,
    `the file ${file}`
  ].sort())
})
