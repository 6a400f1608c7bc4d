import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { mcpSetups } from '../src/core/mcp';

test('the lines to copy are those of docs/mcp.md', async () => {
  const document = await readFile('../docs/mcp.md', 'utf8');
  const withoutSpaces = (text: string) => text.replace(/\s/g, '');
  const setups = mcpSetups({ name: 'book', url: 'https://api.book.example/mcp' });
  assert.equal(setups.length, 5);
  for (const { client, file, text } of setups) {
    assert.ok(withoutSpaces(document).includes(withoutSpaces(text)), text);
    assert.ok(document.includes(`### ${client}`) && document.includes(file ?? ''), client);
  }
});
