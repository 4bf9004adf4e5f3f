'use strict'

/** All features, in the order of their rows and parts. Without one of them this is the kernel alone. */
module.exports = Object.freeze([
  require('./sticky/feature'),
  require('./fork/feature'),
  require('./gc/feature'),
  require('./heapdump/feature'),
  require('./max-heap/feature'),
  require('./max-fds/feature'),
  require('./max-lag/feature'),
  require('./max-handles/feature'),
  require('./blocked/feature'),
  require('./health/feature'),
  require('./leaks/feature'),
  require('./leak-line/feature'),
  require('./exceptions/feature'),
  require('./failover/feature'),
  require('./lease/feature'),
  require('./output/feature'),
  require('./app-metrics/feature'),
  require('./responses/feature'),
  require('./migration/feature'),
  require('./keep-alive/feature'),
  require('./stop-delay/feature'),
  require('./upgrade/feature'),
  require('./elastic/feature'),
  require('./canary/feature'),
  require('./systemd/feature')
])
