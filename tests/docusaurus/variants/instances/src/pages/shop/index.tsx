import React from 'react';
import Layout from '@theme/Layout';

export default function Shop(): React.ReactElement {
  return <Layout><main><h1>Shop</h1><p>Parts of robots.</p></main></Layout>;
}
