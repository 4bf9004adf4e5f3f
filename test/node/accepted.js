'use strict'

/**
 * Tests of Node's own that pass in a plain cluster's worker and not in one of ours, as they should: by name, and why.
 */

module.exports = {
  'test-http-connect': 'counts the listeners of a socket that the app has been given by CONNECT: one is ours, which counts the connection until it closes',
  'test-http-parser-lazy-loaded': 'replaces the parser before http is loaded for the first time, which our preload does',
  'test-net-listen-twice': 'counts the answers of cluster\'s primary, by its internal messages: a listening socket comes by our own'
}
