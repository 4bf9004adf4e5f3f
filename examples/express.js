'use strict'

// An Express app as it is; nothing in it knows of its supervisor.
//   npm install express && recycle --max-rss 256MiB examples/express.js
const express = require('express')

const app = express()
app.get('/', (request, response) => response.send(`hello from ${process.pid}\n`))
app.listen(process.env.PORT ?? 3000)
