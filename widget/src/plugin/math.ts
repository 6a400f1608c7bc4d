import type { DocusaurusConfig } from '@docusaurus/types';

/** True if one of the site's remark plugins is a function named like remark-math. */
export function usesMath({ presets, plugins }: Pick<DocusaurusConfig, 'presets' | 'plugins'>): boolean {
  return [presets, plugins].some((configs) => configs.some((config) => hasMath(config)));
}

/** Options of presets contain those of their plugins, so `remarkPlugins` may be at any depth. */
function hasMath(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasMath);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, inner]) => (name === 'remarkPlugins' ? isMath(inner) : hasMath(inner)));
}

function isMath(remarkPlugins: unknown): boolean {
  const list = Array.isArray(remarkPlugins) ? remarkPlugins : [];
  return list.some((entry) => {
    const plugin: unknown = Array.isArray(entry) ? entry[0] : entry;
    return typeof plugin === 'function' && plugin.name === 'remarkMath';
  });
}
