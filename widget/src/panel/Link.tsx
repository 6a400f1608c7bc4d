import type { MouseEvent, ReactNode } from 'react';
import { safeLink } from '../core/links';
import { type Passage, useBookOrigin, useSite } from './site';

interface LinkProps {
  href: string;
  children: ReactNode;
  label?: string;
  /** The id of the element that describes the link. */
  describedBy?: string;
  onClick?: (event: MouseEvent, href: string) => void;
}

/** A link whose address came over the network; text, if it may not be followed. */
export function Link({ href, children, label, describedBy, onClick }: LinkProps) {
  const { strings } = useSite();
  const bookOrigin = useBookOrigin();
  const link = safeLink(href, bookOrigin);
  if (!link) return <>{children}</>;
  if (link.isForeign) {
    return (
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" aria-label={label} aria-describedby={describedBy}>
        {children}
        <span className="bookrag-foreign"> {strings.leavesSite}</span>
      </a>
    );
  }
  if (bookOrigin !== location.origin) {
    return (
      <a href={bookOrigin + link.href} target="_blank" rel="noopener" onClick={(event) => onClick?.(event, link.href)} aria-label={label} aria-describedby={describedBy}>
        {children}
      </a>
    );
  }
  return (
    <a href={link.href} onClick={(event) => onClick?.(event, link.href)} aria-label={label} aria-describedby={describedBy}>
      {children}
    </a>
  );
}

interface PassageLinkProps extends Passage {
  children: ReactNode;
  label?: string;
  describedBy?: string;
  onFollow?: () => void;
}

/** A link to a page of the book, where its site can go by itself. Other files of the site are not pages: plain links load them. */
export function PassageLink({ quote, onFollow, ...link }: PassageLinkProps) {
  const { go } = useSite();
  const follow = (event: MouseEvent, href: string) => {
    onFollow?.();
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (isPlain && go({ href, quote })) event.preventDefault();
  };
  return <Link {...link} onClick={follow} />;
}
