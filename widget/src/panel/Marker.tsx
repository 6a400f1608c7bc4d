import { type FocusEvent, type KeyboardEvent, type PointerEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { fill, kindOf, placeOf } from '../core/text';
import type { Citation } from '../core/types';
import { PassageLink } from './Link';
import { useSite } from './site';

/** Space between the preview and the window's edge. */
const EDGE_PX = 8;

interface MarkerProps {
  n: number;
  /** How many markers of the same number stand before it. */
  before: number;
  citations: Citation[];
  onFollow: () => void;
}

/** Renders a citation's number, which links to its passage. Hovering or keyboard focus shows the sentence that supports the answer's,
 * or the beginning of the passage. */
export function Marker({ n, before, citations, onFollow }: MarkerProps) {
  const { strings, locale } = useSite();
  const [isShown, setShown] = useState(false);
  const marker = useRef<HTMLElement>(null);
  const id = useId();
  const cited = citations.find((other) => other.n === n);
  const citation = cited && { ...cited, quote: cited.support?.[before] || cited.quote };
  const number = n.toLocaleString(locale);
  if (!citation) return <sup className="bookrag-marker">{number}</sup>;

  // Browsers from before 2023 have no popovers and only get the link.
  const show = () => setShown('popover' in HTMLElement.prototype);
  const hide = () => setShown(false);
  const followed = () => {
    hide();
    onFollow();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isShown) return;
    // Stop this Escape here; the next one closes the panel.
    event.preventDefault();
    event.stopPropagation();
    hide();
  };
  return (
    <sup
      ref={marker}
      className="bookrag-marker"
      // A touch follows the link directly, without a preview.
      onPointerEnter={(event: PointerEvent) => event.pointerType === 'mouse' && show()}
      onPointerLeave={hide}
      onFocus={(event: FocusEvent) => event.target.matches(':focus-visible') && show()}
      onBlur={hide}
      onKeyDown={onKeyDown}>
      <PassageLink
        href={citation.url}
        quote={citation.quote}
        label={`${fill(strings.source, { n: number })}: ${citation.section || citation.title}`}
        describedBy={isShown ? id : undefined}
        onFollow={followed}>
        {number}
      </PassageLink>
      {isShown && <Preview id={id} citation={citation} anchor={marker.current} />}
    </sup>
  );
}

/** Renders a passage's name, place and quote, above everything else. */
function Preview({ id, citation, anchor }: { id: string; citation: Citation; anchor: HTMLElement | null }) {
  const { strings, locale } = useSite();
  const { section, title, chapter, quote } = citation;
  const name = section || title;
  const preview = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const element = preview.current;
    if (!element || !anchor) return;
    const place = () => setPlace(element, anchor.getBoundingClientRect());
    element.showPopover();
    place();
    addEventListener('scroll', place, true);
    return () => removeEventListener('scroll', place, true);
  }, [anchor]);
  return (
    <span ref={preview} id={id} popover="manual" role="tooltip" className="bookrag-preview" dir="auto">
      <strong>{name}</strong>
      <span className="bookrag-place">{placeOf([kindOf(citation, strings, locale), chapter, title], name)}</span>
      <span className="bookrag-preview-quote">{quote}</span>
    </span>
  );
}

/** Places the preview below its marker, or above if there is no space. There is no gap, so that a mouse can move into it. */
function setPlace(preview: HTMLElement, { left, top, bottom }: DOMRect): void {
  const { width, height } = preview.getBoundingClientRect();
  const x = Math.max(EDGE_PX, Math.min(left, innerWidth - width - EDGE_PX));
  const isBelow = bottom + height + EDGE_PX <= innerHeight;
  // Set by script: a style attribute would need permission from the site's content security policy.
  preview.style.setProperty('left', `${x}px`);
  preview.style.setProperty('top', `${isBelow ? bottom : Math.max(EDGE_PX, top - height)}px`);
}
