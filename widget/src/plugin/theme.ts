// Chooses the theme component that adds the panel to the site.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import logger from '@docusaurus/logger';

/** The folder of components that wrap the layout's providers, and the folder of those that wrap the whole site. */
export type ThemeFolder = 'theme' | 'theme-root';

/**
 * Returns the folder of the theme that the site needs. `theme` mounts the panel in `Layout/Provider`. A site that ejected its
 * layout does not render that component, so `theme-root` mounts the panel in `Root` instead.
 */
export function themeFolder(siteDir: string): ThemeFolder {
  const layout = ownComponent(siteDir, 'Layout');
  const hasOwnLayout = layout !== undefined && !layout.includes('@theme-original/') && !layout.includes('/Provider');
  if (!hasOwnLayout && !isReplaced(siteDir, 'Layout/Provider')) return 'theme';
  if (isReplaced(siteDir, 'Root')) {
    logger.warn`docusaurus-plugin-bookrag: the panel is not shown, because ${'src/theme'} replaces ${'Layout/Provider'} and ${'Root'}. Wrap one of them: render ${'@theme-original/Root'} in ${'src/theme/Root'}.`;
  }
  return 'theme-root';
}

/** True if the site has a component of its own that does not wrap the theme's. */
function isReplaced(siteDir: string, name: string): boolean {
  return ownComponent(siteDir, name)?.includes('@theme-original/') === false;
}

/** The source of the site's own component of this name, if it has one. */
function ownComponent(siteDir: string, name: string): string | undefined {
  const endings = ['.tsx', '.ts', '.jsx', '.js'];
  const files = endings.flatMap((ending) => [`${name}${ending}`, `${name}/index${ending}`]);
  const file = files.map((name) => path.join(siteDir, 'src/theme', name)).find((candidate) => existsSync(candidate));
  return file && readFileSync(file, 'utf8');
}
