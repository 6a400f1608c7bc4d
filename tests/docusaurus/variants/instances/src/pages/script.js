import React from 'react';
import Layout from '@theme/Layout';

export default function Script() {
  return <Layout title="Script"><main>A page that is a script</main></Layout>;
}
