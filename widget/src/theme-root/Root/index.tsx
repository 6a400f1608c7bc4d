// For sites whose layout is a copy that leaves the plugin's component out. The layout's colour mode is not at hand here, so code is
// shown without the site's code blocks.

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
