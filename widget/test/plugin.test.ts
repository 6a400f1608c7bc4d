import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LoadContext } from '@docusaurus/types';
import { normalizePluginOptions } from '@docusaurus/utils-validation';
import type { LoaderSettings, PanelSettings } from '../src/client/settings';
import { themeFolder } from '../src/plugin/theme';
import plugin, { type Options, type PluginOptions, validateOptions } from '../src/plugin';

const validate = normalizePluginOptions as never;
const validated = (options: unknown): PluginOptions => validateOptions({ validate, options: options as Options });

function remarkMath() {}

function contextOf(locale: string, presets: unknown[] = []): LoadContext {
  return { i18n: { currentLocale: locale }, siteConfig: { title: 'Garden Robotics!', presets, plugins: [] } } as unknown as LoadContext;
}

async function written(context: LoadContext, options: object, translated: Record<string, { message: string }> = {}) {
  const instance = plugin(context, validated({ url: 'https://api.example', ...options }));
  let loader: unknown;
  let panel = '';
  const actions = {
    setGlobalData: (data: unknown) => (loader = data),
    createData: async (name: string, data: string) => {
      if (name === 'panel.json') panel = data;
    },
  };
  const loaded = await instance.loadContent!();
  const translationFiles = [{ path: 'strings', content: translated }];
  const content = instance.translateContent!({ content: loaded, translationFiles });
  await instance.contentLoaded!({ content, actions } as never);
  return { loader: loader as LoaderSettings, panel: JSON.parse(panel) as PanelSettings };
}

test('one URL is enough', async () => {
  const { loader, panel } = await written(contextOf('en'), {});
  assert.equal(loader.shortcut, 'ctrl+.');
  assert.ok(loader.button && loader.selection && panel.search);
  assert.equal(panel.url, 'https://api.example');
  assert.equal(panel.mcp, 'garden-robotics');
  assert.equal((await written(contextOf('en'), { mcp: false })).panel.mcp, undefined);
});

test('invalid options are refused', () => {
  const wrong = [
    {},
    { url: 'api.example' },
    { url: 'javascript:alert(1)' },
    { url: 'https://api.example', shortcut: 'k' },
    { url: 'https://api.example', shortcut: true },
    { url: 'https://api.example', shortcut: 'shift+a' },
    { url: 'https://api.example/api/v1' },
    { url: 'https://api.example?key=1' },
    { url: 'https://api.example', strings: { en: { titel: 'Ask' } } },
    { url: 'https://api.example', colour: 'red' },
    { url: 'https://api.example', questions: 'why?' },
    { url: 'https://api.example', button: { position: 'left' } },
    { url: 'https://api.example', supportUrl: 'help' },
    ...['soil', [], ['Soil'], ['soil', 'soil'], ['a/b'], ['x'.repeat(33)]].map((books) => ({ url: 'https://api.example', books })),
  ];
  for (const options of wrong) assert.throws(() => validated(options), /url|shortcut|colour|questions|titel|position|supportUrl|books/, JSON.stringify(options));
});

test('texts come from the language, the options, and the translations, in this order', async () => {
  const strings = { ur: { ask: 'سوال' } };
  const plain = await written(contextOf('ur'), { strings });
  assert.equal(plain.loader.strings.ask, 'سوال');
  assert.match(plain.panel.strings.close, /بند/);
  const translated = await written(contextOf('ur'), { strings }, { ask: { message: 'پوچھو' } });
  assert.equal(translated.loader.strings.ask, 'پوچھو');
});

test('the books to ask are read by the panel alone', async () => {
  const { loader, panel } = await written(contextOf('en'), { books: ['soil', 'water-2'] });
  assert.deepEqual(panel.books, ['soil', 'water-2']);
  assert.ok(!('books' in loader));
  assert.ok(!('books' in (await written(contextOf('en'), {})).panel));
});

test('questions to begin with may differ by locale', async () => {
  const questions = { en: ['why?'], ur: ['کیوں؟'] };
  assert.deepEqual((await written(contextOf('ur'), { questions })).panel.examples, ['کیوں؟']);
  assert.deepEqual((await written(contextOf('de'), { questions })).panel.examples, []);
});

test('formulas are shown where the site has remark-math', async () => {
  const classic = (remarkPlugins: unknown[]) => [['classic', { docs: { remarkPlugins } }]];
  const math = async (presets: unknown[], options = {}) => (await written(contextOf('en', presets), options)).panel.math;
  assert.equal(await math(classic([remarkMath])), true);
  assert.equal(await math(classic([[remarkMath, { singleDollarTextMath: false }]])), true);
  assert.equal(await math(classic([])), false);
  assert.equal(await math(['classic', false, null, undefined]), false);
  assert.equal(await math(classic([]), { math: true }), true);
});

/** A built site, and a command that exports as `bookrag` does and ends so. */
async function builtSite(code: number) {
  const folder = await mkdtemp(join(tmpdir(), 'bookrag-'));
  const outDir = join(folder, 'build');
  await mkdir(join(outDir, 'docs/a b'), { recursive: true });
  for (const page of ['index.html', 'docs/a b/index.html', 'docs/c.html', 'other.html']) {
    await writeFile(join(outDir, page), '<html><head></head><body></body></html>');
  }
  const command = join(folder, 'bookrag');
  const manifest = ['1  docs/a b.md', '2  docs/c.md', '3  index.md', '4  gone.md', '5  llms.txt'].join('\\n');
  await writeFile(command, `#!/bin/sh\necho "$@" > "${folder}/asked"\nprintf '${manifest}\\n' > "${outDir}/.bookrag-export"\nexit ${code}\n`);
  await chmod(command, 0o755);
  const context = { baseUrl: '/g/', i18n: { currentLocale: 'en' }, siteConfig: { url: 'https://g.example', presets: [], plugins: [] } };
  const build = async (markdown: boolean | string) => {
    const instance = plugin(context as unknown as LoadContext, validated({ url: 'https://api.example', markdown }));
    await instance.postBuild!({ siteDir: '/site', outDir, baseUrl: '/g/', siteConfig: context.siteConfig } as never);
  };
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return { command, build, read };
}

test('each page says where its Markdown is', async () => {
  const { command, build, read } = await builtSite(0);
  await build(false);
  await assert.rejects(read('asked'));
  await build(command);
  // A second run adds no second link.
  await build(command);
  assert.match(await read('asked'), /^export \/site --out .*build --locale en --site-url https:\/\/g\.example --api https:\/\/api\.example\n$/);
  const link = (href: string) => `<head><link rel="alternate" type="text/markdown" href="https://g.example/g/${href}"></head>`;
  assert.ok((await read('build/docs/a b/index.html')).includes(link('docs/a%20b.md')));
  assert.ok((await read('build/docs/c.html')).includes(link('docs/c.md')));
  assert.ok((await read('build/index.html')).includes(link('index.md')));
  assert.ok((await read('build/other.html')).includes('<head></head>'));
});

test('a build without the required command says what to do', async () => {
  const { command, build } = await builtSite(1);
  await assert.rejects(build('/none/bookrag'), /needs the command `\/none\/bookrag`, which was not found: install bookrag/);
  await assert.rejects(build(command), /ended with 1/);
});

test('the button and the title are the site’s', async () => {
  const context = { ...contextOf('en'), baseUrl: '/g/' } as LoadContext;
  const { loader, panel } = await written(context, { title: 'Ask Sprig', button: { label: 'Help', icon: 'img/ask.svg', position: 'start' }, supportUrl: '/help' });
  assert.deepEqual([loader.button, loader.strings.ask, loader.icon, loader.start], [true, 'Help', '/g/img/ask.svg', true]);
  assert.deepEqual([panel.strings.title, panel.strings.ask, panel.supportUrl], ['Ask Sprig', 'Ask', '/help']);
  const ownTexts = await written(context, { title: 'Ask Sprig', button: false, strings: { en: { title: 'Ask away' } } });
  assert.deepEqual([ownTexts.loader.button, ownTexts.loader.icon, ownTexts.panel.strings.title], [false, undefined, 'Ask away']);
});

test('a layout that leaves the plugin out is found, and one that wraps the theme’s is not', async () => {
  const folderFor = async (components: Record<string, string>) => {
    const siteDir = await mkdtemp(join(tmpdir(), 'bookrag-'));
    for (const [name, source] of Object.entries(components)) {
      await mkdir(join(siteDir, 'src/theme', name, '..'), { recursive: true });
      await writeFile(join(siteDir, 'src/theme', name), source);
    }
    return themeFolder(siteDir);
  };
  const wrapper = "import Original from '@theme-original/Layout';";
  const copy = "import { composeProviders } from '@docusaurus/theme-common';";
  assert.equal(await folderFor({}), 'theme');
  assert.equal(await folderFor({ 'Layout/index.js': wrapper }), 'theme');
  assert.equal(await folderFor({ 'Layout/index.tsx': "import LayoutProvider from '@theme/Layout/Provider';" }), 'theme');
  assert.equal(await folderFor({ 'Layout/index.tsx': copy }), 'theme-root');
  assert.equal(await folderFor({ 'Layout/Provider/index.js': copy, 'Root.js': wrapper }), 'theme-root');
});

test('all wrong options are named at once', () => {
  assert.throws(() => validated({ url: 'api.example', colour: 'red', shortcut: 'k' }), /url.*colour|colour.*url/s);
});
