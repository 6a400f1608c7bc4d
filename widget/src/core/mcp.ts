// The instructions for connecting a coding agent to the book's Model Context Protocol server. docs/mcp.md has the same lines.

export interface McpServer {
  /** The server's name in the agent. */
  name: string;
  url: string;
}

export interface McpSetup {
  client: string;
  /** The file for the text; without it, the text is a shell command. */
  file?: string;
  text: string;
}

/** Returns the instructions for each client. */
export function mcpSetups({ name, url }: McpServer): McpSetup[] {
  return [
    { client: 'Claude Code', text: `claude mcp add --transport http ${name} ${url}` },
    { client: 'Cursor', file: '.cursor/mcp.json', text: JSON.stringify({ mcpServers: { [name]: { url } } }) },
    { client: 'VS Code', file: '.vscode/mcp.json', text: JSON.stringify({ servers: { [name]: { type: 'http', url } } }) },
    { client: 'Codex', text: `codex mcp add ${name} --url ${url}` },
    { client: 'Gemini CLI', text: `gemini mcp add --transport http ${name} ${url}` },
  ];
}
