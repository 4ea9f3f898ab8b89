/** What `mcp` uses of the SDK: a bundle of its own, so that no other start reads it (bin/build.js). */
export { McpServer, fromJsonSchema, parseJSONRPCMessage } from '@modelcontextprotocol/server'
export { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
export type { ServerContext } from '@modelcontextprotocol/server'
