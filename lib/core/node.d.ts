/** Types of what this package uses of Node's internals (internals.js says for what). They are not published. */

import type { Handle, Parser, ProcessHandle } from './internals'
import type { Unread } from '../native/descriptor'

declare module 'net' {
  interface Socket {
    _handle: Handle | null
    _parent?: Socket
    _server?: Server | null
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
    /** Of a stream of HTTP/2, which stands for its response. */
    sentHeaders?: OutgoingHttpHeaders
  }

  interface IncomingMessage {
    replayed?: number
    upgrade?: boolean
  }

  interface Server {
    keepAliveTimeoutBuffer?: number
  }
}

declare module 'child_process' {
  interface ChildProcess {
    _handle: ProcessHandle
    spawn (options: object): number
    send (message: Serializable, handle: Handle | undefined, options: undefined, sent: (error: Error | null) => void):
      boolean
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
      send? (message: unknown, handle: Unread | undefined, options: undefined, sent: (error: Error | null) => void):
        boolean
      on (event: 'internalMessage', listener: (message: unknown, handle: unknown) => void): this
      once (event: 'recycle:drain' | 'recycle:alone', listener: (about: unknown) => void): this
    }
  }
}
