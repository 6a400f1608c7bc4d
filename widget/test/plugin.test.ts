import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadContext } from '@docusaurus/types';
import { normalizePluginOptions } from '@docusaurus/utils-validation';
import type { LoaderSettings, PanelSettings } from '../src/client/settings';
import plugin, { type Options, type PluginOptions, validateOptions } from '../src/plugin';

const validate = normalizePluginOptions as never;
const validated = (options: unknown): PluginOptions => validateOptions({ validate, options: options as Options });

function remarkMath() {}

function contextOf(locale: string, presets: unknown[] = []): LoadContext {
  return { i18n: { currentLocale: locale }, siteConfig: { presets, plugins: [] } } as unknown as LoadContext;
}

async function written(context: LoadContext, options: object, translated: Record<string, { message: string }> = {}) {
  const instance = plugin(context, validated({ url: 'https://api.example', ...options }));
  let loader: unknown;
  let panel = '';
  const actions = {
    setGlobalData: (data: unknown) => (loader = data),
    createData: async (_name: string, data: string) => (panel = data),
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
});

test('options that cannot be right are refused', () => {
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
  ];
  for (const options of wrong) assert.throws(() => validated(options), /url|shortcut|colour|questions|titel/, JSON.stringify(options));
});

test('texts come from the language, the options, and the translations, in this order', async () => {
  const strings = { ur: { ask: 'سوال' } };
  const plain = await written(contextOf('ur'), { strings });
  assert.equal(plain.loader.strings.ask, 'سوال');
  assert.match(plain.panel.strings.close, /بند/);
  const translated = await written(contextOf('ur'), { strings }, { ask: { message: 'پوچھو' } });
  assert.equal(translated.loader.strings.ask, 'پوچھو');
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
