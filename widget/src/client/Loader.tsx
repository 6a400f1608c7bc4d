import { useLocation } from '@docusaurus/router';
import { usePluginData } from '@docusaurus/useGlobalData';
import useIsBrowser from '@docusaurus/useIsBrowser';
import PanelLoader from './PanelLoader';
import { type LoaderSettings, type PanelModule, PLUGIN } from './settings';

const loadPanel = () => import('./DocusaurusPanel');

/** The loader in a Docusaurus site. It is not in the built HTML, but rendered by the first script. */
export default function Loader({ load = loadPanel }: { load?: () => Promise<PanelModule> }) {
  const isBrowser = useIsBrowser();
  const settings = usePluginData(PLUGIN) as LoaderSettings;
  const { search } = useLocation();
  return isBrowser ? <PanelLoader settings={settings} search={search} load={load} /> : null;
}
