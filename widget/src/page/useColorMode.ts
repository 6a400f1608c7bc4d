import { useEffect, useState } from 'react';

export type ColorMode = 'light' | 'dark';

const KEY = 'bookrag-theme';
const root = document.documentElement;
const system = matchMedia('(prefers-color-scheme: dark)');

/** The reader's choice, before anything is shown. Otherwise the site's mode stays, which the server wrote: some sites have only one. */
const chosen = localStorage.getItem(KEY);
if (isMode(chosen) && !root.hasAttribute('data-fixed')) root.dataset.theme = chosen;

function isMode(value: string | null | undefined): value is ColorMode {
  return value === 'light' || value === 'dark';
}

function current(): ColorMode {
  const { theme } = root.dataset;
  if (isMode(theme)) return theme;
  return system.matches ? 'dark' : 'light';
}

/** Returns the mode of the colours, and a function that changes and keeps it. */
export function useColorMode(): [ColorMode, (mode: ColorMode) => void] {
  const [mode, setMode] = useState(current);
  useEffect(() => {
    const follow = () => setMode(current());
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  return [mode, (mode) => {
    root.dataset.theme = mode;
    localStorage.setItem(KEY, mode);
    setMode(mode);
  }];
}
