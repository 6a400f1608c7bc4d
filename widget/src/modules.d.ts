// Modules resolved by Docusaurus's bundler, and globals that a site may set.

interface Window {
  bookrag?: import('./core/hooks').Hooks;
}

declare module '*.css' {
  const text: string;
  export default text;
}

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export default function SwaggerUi(options: Record<string, unknown>): void;
}

declare module '@theme-init/Layout/Provider' {
  export default function Provider(props: { children: import('react').ReactNode }): import('react').ReactNode;
}

declare module '@theme-init/Root' {
  export default function Root(props: { children: import('react').ReactNode }): import('react').ReactNode;
}

declare module '@theme/CodeBlock' {
  export default function CodeBlock(props: { language?: string; children: string }): import('react').ReactNode;
}

declare module '@docusaurus/useIsBrowser' {
  export default function useIsBrowser(): boolean;
}

declare module '@docusaurus/useGlobalData' {
  export function usePluginData(plugin: string): unknown;
}

declare module '@docusaurus/useDocusaurusContext' {
  export default function useDocusaurusContext(): {
    siteConfig: { baseUrl: string };
    i18n: { currentLocale: string; locales: string[]; localeConfigs: Record<string, { htmlLang: string } | undefined> };
  };
}

declare module '@docusaurus/router' {
  interface Location {
    pathname: string;
    search: string;
    hash: string;
  }
  export function useLocation(): Location;
  export function useHistory(): { push(path: string): void; replace(path: string): void };
}

declare module '@generated/docusaurus-plugin-bookrag/default/topics.json' {
  /** Topics of the whole book. */
  const topics: string[];
  export default topics;
}

declare module '@generated/docusaurus-plugin-bookrag/default/panel.json' {
  const settings: import('./client/settings').PanelSettings;
  export default settings;
}
