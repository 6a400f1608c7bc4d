// The instructions for connecting a coding agent to the book's Model Context Protocol server. docs/mcp.md has the same lines.

export interface McpServer {
  /** What the agent calls the server. */
  name: string;
  url: string;
}

export interface McpSetup {
  client: string;
  /** The file that the text goes into; a command of a shell if there is none. */
  file?: string;
  text: string;
}

/** Returns what to enter for each client. */
export function mcpSetups({ name, url }: McpServer): McpSetup[] {
  return [
    { client: 'Claude Code', text: `claude mcp add --transport http ${name} ${url}` },
    { client: 'Cursor', file: '.cursor/mcp.json', text: JSON.stringify({ mcpServers: { [name]: { url } } }) },
    { client: 'VS Code', file: '.vscode/mcp.json', text: JSON.stringify({ servers: { [name]: { type: 'http', url } } }) },
    { client: 'Codex', text: `codex mcp add ${name} --url ${url}` },
    { client: 'Gemini CLI', text: `gemini mcp add --transport http ${name} ${url}` },
  ];
}
