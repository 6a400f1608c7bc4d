import React from 'react';

export default function Script() {
  return <main>A page that is a script</main>;
}
