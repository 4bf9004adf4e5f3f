// An ES module that awaits what it needs before it listens: until then its predecessor serves.
//   recycle --max-age 1h examples/esm.mjs
import http from 'node:http'
import { readFile } from 'node:fs/promises'

const source = await readFile(new URL(import.meta.url))

http.createServer((request, response) => response.end(source)).listen(process.env.PORT ?? 3000)
