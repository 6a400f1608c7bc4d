// Common setup of all specs: the server, the model, the panel, and checks that apply to every page in every test.

import path from 'node:path';
import { test as base, expect } from '@playwright/test';
import { Bookrag } from '../harness/bookrag';
import { ChatModel } from '../harness/chatModel';
import { WORK } from '../harness/paths';
import { readPorts } from '../harness/ports';
import { BASE_URLS, folderOf, type SiteName } from '../harness/sites';
import { Panel } from './panel';
import { watch, type Watch } from './watch';

export { expect } from '@playwright/test';

export const ports = readPorts();

/** Where a site is shown, without a slash at its end. */
const urlOf = (site: SiteName) => `http://127.0.0.1:${ports[site]}${BASE_URLS[site]}`.replace(/\/$/, '');
export const BOOK = urlOf('book');
export const REACT18 = urlOf('react18');
export const EXAMPLE = urlOf('example');
/** The page of `serve`. */
export const SERVE = `http://127.0.0.1:${ports.bookApi}`;

/** A question that the book answers, and the page that does. */
export const QUESTION = 'How do I calibrate the soil moisture probe?';
export const LESSON = `${BASE_URLS.book}docs/module-1-foundations/chapter-1-sensing/soil-moisture`;
export const NOT_IN_BOOK = 'What is the capital of France?';

/** The settings of a server whose answers the model writes. */
const SCRIPTED = {
  BOOKRAG_GENERATOR: 'openai',
  BOOKRAG_CHAT_BASE_URL: `http://127.0.0.1:${ports.model}/v1`,
  BOOKRAG_CHAT_API_KEY: 'key',
  // It calls no function, and does not decide whether the book answers.
  BOOKRAG_SMALL_MODEL: 'true',
  // Tests ask the same questions with different models.
  BOOKRAG_ANSWER_CACHE: 'off',
  // The scripted model only answers readers.
  BOOKRAG_QUESTIONS_BUDGET: '0',
};

interface Fixtures {
  panel: Panel;
  watched: Watch;
}

interface WorkerFixtures {
  running: ChatModel;
  /** The fixture book's server, whose answers the model writes. */
  server: Bookrag;
  /** The example's server, which answers with the book's own sentences. */
  exampleServer: Bookrag;
  /** A server of both books, `garden` and `bread`, whose answers the model writes. */
  library: Bookrag;
}

interface PerTest {
  model: ChatModel;
}

export const test = base.extend<Fixtures & PerTest, WorkerFixtures>({
  running: [
    async ({}, use) => {
      const model = new ChatModel(ports.model);
      await model.start();
      await use(model);
      await model.stop();
    },
    { scope: 'worker', auto: true },
  ],
  server: [
    async ({ running: _ }, use) => {
      const server = new Bookrag({ sites: [folderOf('book')], port: ports.bookApi, env: SCRIPTED });
      await server.start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', auto: true, timeout: 60_000 },
  ],
  exampleServer: [
    async ({}, use) => {
      const server = new Bookrag({ sites: [folderOf('example')], port: ports.exampleApi });
      await server.start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  library: [
    async ({ running: _ }, use) => {
      const sites = [`garden=${folderOf('book')}`, `bread=${folderOf('example')}`];
      // A book's stores are open in one server at a time.
      const env = { ...SCRIPTED, BOOKRAG_DATA: path.join(WORK, 'library') };
      const server = new Bookrag({ sites, port: ports.library, env });
      await server.start();
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  model: async ({ running }, use) => {
    running.reset();
    await use(running);
    running.reset();
  },
  panel: async ({ page }, use) => {
    await use(new Panel(page));
  },
  watched: [
    async ({ page, context }, use) => {
      const watched = watch(page, [...Object.values(ports)].map((port) => `127.0.0.1:${port}`));
      await use(watched);
      expect(watched.foreign, 'requests to hosts other than the site and the API').toEqual([]);
      expect(watched.faults, 'errors in the page').toEqual([]);
      expect(await context.cookies(), 'cookies').toEqual([]);
    },
    { auto: true },
  ],
});
