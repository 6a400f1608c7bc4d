import type { AllContent } from '@docusaurus/types';

/** The parts of the docs plugin's content that are used; any of them may be missing in another version of Docusaurus. */
interface DocsContent {
  loadedVersions?: {
    isLast?: boolean;
    docs?: { id: string; title: string; unlisted?: boolean }[];
    sidebars?: Record<string, SidebarItem[]>;
  }[];
}

interface SidebarItem {
  type: string;
  id?: string;
  link?: { type: string; id?: string };
  items?: SidebarItem[];
}

/** Returns the titles of the pages in the sidebars of the docs' default version, in their order there. */
export function sidebarTitles(allContent: AllContent): string[] {
  const content = allContent['docusaurus-plugin-content-docs']?.default as DocsContent | undefined;
  const version = content?.loadedVersions?.find(({ isLast }) => isLast);
  const titles = new Map(version?.docs?.filter(({ unlisted }) => !unlisted).map(({ id, title }) => [id, title]));
  const ids = Object.values(version?.sidebars ?? {}).flatMap((items) => items.flatMap(pageIds));
  return ids.flatMap((id) => titles.get(id) ?? []);
}

/** Returns the ids of the pages that a sidebar item links to. */
function pageIds({ type, id, link, items = [] }: SidebarItem): string[] {
  if (type !== 'category') return id ? [id] : [];
  return [...(link?.id ? [link.id] : []), ...items.flatMap(pageIds)];
}
