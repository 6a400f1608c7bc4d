// For sites whose own layout leaves the plugin's component out. The layout's colour mode is not available here, so the site's code
// blocks cannot be used.

import Root from '@theme-init/Root';
import type { ReactNode } from 'react';
import Loader from '../../client/Loader';

const load = () => import('../../client/OutsideLayoutPanel');

export default function BookRoot({ children }: { children: ReactNode }) {
  return (
    <Root>
      {children}
      <Loader load={load} />
    </Root>
  );
}
