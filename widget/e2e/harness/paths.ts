import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const E2E = fileURLToPath(new URL('..', import.meta.url));
export const WIDGET = path.join(E2E, '..');
export const REPOSITORY = path.join(WIDGET, '..');
/** What a run makes; ignored by git. */
export const WORK = path.join(E2E, 'work');
export const BOOKRAG = process.env.BOOKRAG ?? path.join(REPOSITORY, 'target/debug/bookrag');
