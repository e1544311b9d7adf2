// The parts of node:http that the project uses. An import of node:http also loads everything that it re-exports, such
// as undici, which adds 35 ms to each start.

export const { Agent, createServer, IncomingMessage, request, STATUS_CODES } = process.getBuiltinModule('node:http');
