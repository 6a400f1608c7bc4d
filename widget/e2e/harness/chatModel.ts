import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface Passage {
  n: number;
  from: string;
  text: string;
}

/** What the model was asked for an answer with. */
export interface Prompt {
  passages: Passage[];
  question: string;
  /** All that it was told after its rules. */
  user: string;
}

/**
 * What the model writes, piece by piece, when it is asked. A script that throws breaks the connection; one that awaits holds the
 * answer there; `finish` says why it ends.
 */
export interface Script {
  write: (prompt: Prompt) => AsyncIterable<string> | Iterable<string>;
  finish?: 'stop' | 'length' | 'content_filter';
}

const QUOTES_FIRST: Script = {
  write: ({ passages }) => words(`${passages[0]?.text.split(/(?<=\.)\s/)[0] ?? 'Nothing.'} [${passages[0]?.n ?? 1}]`),
};

/** A text word by word, as models write. */
export const words = (text: string): string[] => text.split(/(?<=\s)/);

/** A chat model with an OpenAI-compatible API that writes what a test tells it to. */
export class ChatModel {
  /** What it was asked for answers with, newest last. */
  prompts: Prompt[] = [];
  private script: Script | { status: number } = QUOTES_FIRST;
  private readonly server: Server;

  constructor(private readonly port: number) {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Back to quoting the first passage. */
  reset(): void {
    this.script = QUOTES_FIRST;
    this.prompts = [];
  }

  says(text: string, options: Omit<Script, 'write'> = {}): void {
    this.script = { write: () => words(text), ...options };
  }

  writes(write: Script['write'], options: Omit<Script, 'write'> = {}): void {
    this.script = { write, ...options };
  }

  fails(status: number): void {
    this.script = { status };
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      response.writeHead('status' in this.script ? this.script.status : 200, { 'Content-Type': 'application/json' });
      response.end('{"data": []}');
      return;
    }
    const { messages } = JSON.parse(await bodyOf(request)) as { messages: { content: string }[] };
    const [system = '', user = ''] = messages.map(({ content }) => content);
    const prompt = read(user);
    const isRewrite = system.startsWith('You turn a reader');
    if (!isRewrite) this.prompts.push(prompt);
    const script: Script | { status: number } = isRewrite ? { write: () => [prompt.question] } : this.script;
    if ('status' in script) {
      response.writeHead(script.status, { 'Content-Type': 'application/json' });
      response.end('{"error": {"message": "away"}}');
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    try {
      for await (const content of script.write(prompt)) send({ choices: [{ delta: { content } }] });
      send({ choices: [{ delta: {}, finish_reason: script.finish ?? 'stop' }] });
      response.end('data: [DONE]\n\n');
    } catch {
      response.destroy();
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const bytes of request) body += bytes;
  return body;
}

/** The data between the prompt's fences. A passage ends where the next one begins. */
function read(user: string): Prompt {
  const fenced = [...user.matchAll(/^(\S+) begin: (.*)\n([^]*?)\n(?=\1 (?:end$|begin: ))/gm)];
  const passages = fenced.flatMap(([, , about = '', text = '']): Passage[] => {
    const [, n, from = ''] = /^passage \[(\d+)\], from: (.*)$/.exec(about) ?? [];
    return n ? [{ n: Number(n), from, text }] : [];
  });
  const question = fenced.findLast(([, , about = '']) => /question$/.test(about))?.[3] ?? '';
  return { passages, question, user };
}
