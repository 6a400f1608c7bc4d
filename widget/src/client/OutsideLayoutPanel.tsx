import DocusaurusPanel from './DocusaurusPanel';
import type { PanelProps } from './settings';

export { ask } from './DocusaurusPanel';

/** The panel for a layout that leaves the plugin's component out. */
export default function OutsideLayoutPanel(props: PanelProps) {
  return <DocusaurusPanel {...props} isOutsideLayout />;
}
