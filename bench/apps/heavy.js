'use strict'

// An app that takes about a second to load, because it loads that much code; answers with its pid.
for (const name of ['typescript', 'eslint', 'express', 'fastify', 'socket.io', 'reflect-metadata', '@nestjs/core']) require(name)

require('./pid')
