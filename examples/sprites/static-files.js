'use strict'

/** The files of the web page, from memory. */

const fs = require('node:fs')
const path = require('node:path')

const FOLDER = path.join(__dirname, 'page')
/** @type {Record<string, string>} */
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml' }

const files = new Map(fs.readdirSync(FOLDER).map(name => [`/${name === 'index.html' ? '' : name}`, {
  type: TYPES[path.extname(name)],
  content: fs.readFileSync(path.join(FOLDER, name))
}]))

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {string} url without its query
 * @returns {boolean} false: it is no file of the page
 */
function servePage ({ method }, response, url) {
  const file = files.get(url)
  if (!file || (method !== 'GET' && method !== 'HEAD')) return false
  response.writeHead(200, {
    'Content-Type': file.type,
    'Content-Length': file.content.length,
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"
  })
  response.end(method === 'HEAD' ? undefined : file.content)
  return true
}

module.exports = { servePage }
