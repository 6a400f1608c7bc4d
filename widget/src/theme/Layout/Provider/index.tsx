// Places the loader within the layout's providers, for access to the site's router, colour mode and code blocks.

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
