import type { MouseEvent, ReactNode } from 'react';
import { safeLink } from '../core/links';
import { type Passage, useSite } from './site';

interface LinkProps extends Passage {
  children: ReactNode;
  label?: string;
  onFollow?: () => void;
}

/** A link whose address came over the network; text, if it may not be followed. */
export function Link({ href, quote, children, label, onFollow }: LinkProps) {
  const { go, strings } = useSite();
  const link = safeLink(href, location.origin);
  if (!link) return <>{children}</>;
  if (link.isForeign) {
    return (
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" aria-label={label}>
        {children}
        <span className="bookrag-foreign"> {strings.leavesSite}</span>
      </a>
    );
  }
  const follow = (event: MouseEvent) => {
    onFollow?.();
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (isPlain && go({ href: link.href, quote })) event.preventDefault();
  };
  return (
    <a href={link.href} onClick={follow} aria-label={label}>
      {children}
    </a>
  );
}
