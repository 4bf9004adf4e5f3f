/** Types of what this package uses of Node's internals (internals.js says for what). They are not published. */

import type { Handle, Parser } from './internals'

declare module 'net' {
  interface Socket {
    _handle: Handle | null
    _parent?: Socket
    _server?: Server
    _httpMessage?: import('http').ServerResponse | null
    _writeGeneric: (isMany: boolean, data: unknown, encoding: unknown, callback: unknown) => unknown
    server?: Server
    parser?: Parser
  }

  interface Server {
    _handle: Handle | null
    _connections: number
    _emitCloseIfDrained?: () => void
    allowHalfOpen: boolean
    dropMaxConnection?: boolean
  }

  function _createServerHandle (
    address: string | null, port: number | null, addressType: number | null, fd?: number | null, flags?: number | null
  ): Handle | number
}

declare module 'http' {
  interface OutgoingMessage {
    _header: string | null
    _last: boolean
  }

  interface IncomingMessage {
    replayed?: number
    upgrade?: boolean
  }

  interface Server {
    keepAliveTimeoutBuffer?: number
  }
}

declare module 'cluster' {
  interface Cluster {
    _getServer: (server: import('net').Server, query: unknown, done: (...answer: unknown[]) => void) => void
  }
}

declare global {
  namespace NodeJS {
    interface Process {
      _exiting?: boolean
      reallyExit: (code?: number) => never
      on (event: 'internalMessage', listener: (message: unknown, handle: unknown) => void): this
      once (event: 'recycle:drain' | 'recycle:alone', listener: (about: unknown) => void): this
    }
  }
}
