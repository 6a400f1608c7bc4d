import type { ReactNode } from 'react';

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="bookrag-icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const CloseIcon = () => <Icon><path d="M6 6l12 12M18 6L6 18" /></Icon>;
export const NewIcon = () => <Icon><path d="M12 5v14M5 12h14" /></Icon>;
export const CopyIcon = () => <Icon><path d="M9 9h11v11H9zM15 9V4H4v11h5" /></Icon>;
export const MoreIcon = () => <Icon><path d="M5 12h.01M12 12h.01M19 12h.01" strokeWidth="3" /></Icon>;
export const LinkIcon = () => <Icon><path d="M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1" /></Icon>;
export const WidenIcon = () => <Icon><path d="M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7" /></Icon>;
export const NarrowIcon = () => <Icon><path d="M13 5v6h6M13 11l7-7M11 19v-6H5M11 13l-7 7" /></Icon>;
const THUMB = 'M7 11v9H3v-9zm0 0 4-8c1.7 0 2.8 1.2 2.5 2.9L13 9h6.2c1.3 0 2.2 1.2 1.9 2.4l-1.6 7C19.3 19.4 18.5 20 17.5 20H7';
export const UpIcon = () => <Icon><path d={THUMB} /></Icon>;
export const DownIcon = () => <Icon><path d={THUMB} transform="rotate(180 12 12)" /></Icon>;
export const SunIcon = () => <Icon><path d="M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5" /></Icon>;
export const MoonIcon = () => <Icon><path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z" /></Icon>;
