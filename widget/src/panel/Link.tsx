import type { MouseEvent, ReactNode } from 'react';
import { safeLink } from '../core/links';
import { type Passage, useBookUrl, useSite } from './site';

interface LinkProps {
  href: string;
  children: ReactNode;
  label?: string;
  /** The id of the element that describes the link. */
  describedBy?: string;
  onClick?: (event: MouseEvent, href: string) => void;
}

/** Renders a link with an untrusted address; as text if the address is not allowed. */
export function Link({ href, children, label, describedBy, onClick }: LinkProps) {
  const { strings } = useSite();
  const link = safeLink(href, useBookUrl(), location.origin);
  if (!link) return <>{children}</>;
  if (link.isForeign) {
    return (
      <a href={link.href} target="_blank" rel="noopener noreferrer nofollow" aria-label={label} aria-describedby={describedBy}>
        {children}
        <span className="bookrag-foreign" title={strings.leavesSite}>
          <span className="bookrag-hidden"> {strings.leavesSite}</span>
        </span>
      </a>
    );
  }
  if (!link.href.startsWith('/')) {
    return (
      <a href={link.href} target="_blank" rel="noopener" onClick={(event) => onClick?.(event, link.href)} aria-label={label} aria-describedby={describedBy}>
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

/** Renders a link to a page of the book, which the site can open without a reload. Other files of the site need plain links. */
export function PassageLink({ quote, onFollow, ...link }: PassageLinkProps) {
  const { go } = useSite();
  const follow = (event: MouseEvent, href: string) => {
    onFollow?.();
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (isPlain && go({ href, quote })) event.preventDefault();
  };
  return <Link {...link} onClick={follow} />;
}
