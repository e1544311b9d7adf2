// What we use of node:http. To import it loads all that it passes on as well, such as undici: 35 ms of each start.

export const { Agent, createServer, IncomingMessage, request, STATUS_CODES } = process.getBuiltinModule('node:http');
