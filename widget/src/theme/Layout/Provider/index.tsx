// The loader stands within the providers of the site's layout, where the site's router, colour mode and code blocks are at hand.

import Provider from '@theme-init/Layout/Provider';
import type { ReactNode } from 'react';
import Loader from '../../../client/Loader';

export default function LayoutProvider({ children }: { children: ReactNode }) {
  return (
    <Provider>
      {children}
      <Loader />
    </Provider>
  );
}
