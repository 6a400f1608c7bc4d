import { useEffect, useRef } from 'react';

/** The most macro expansions of a formula: those of answers are short. */
const MAX_EXPANSIONS = 500;
const MAX_EM = 20;

interface FormulaProps {
  tex: string;
  isBlock: boolean;
}

/** Renders a formula as MathML, which needs no style sheet or fonts. Shows its TeX until KaTeX is loaded, with the first formula. */
export function Formula({ tex, isBlock }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let isGone = false;
    import('katex').then(
      ({ default: katex }) => {
        // `render` creates elements directly, without parsing HTML.
        const settings = { displayMode: isBlock, output: 'mathml', errorColor: 'currentcolor', maxExpand: MAX_EXPANSIONS, maxSize: MAX_EM } as const;
        const element = place.current;
        if (isGone || !element) return;
        try {
          katex.render(tex, element, settings);
        } catch {
          // KaTeX's own error element has a `style`, which a site's content security policy may forbid.
          element.textContent = tex;
        }
      },
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [tex, isBlock]);
  return (
    // Scrollable content must be focusable by keyboard.
    <span tabIndex={isBlock ? 0 : undefined} className={isBlock ? 'bookrag-formula bookrag-formula-block' : 'bookrag-formula'} dir="ltr" ref={place} key={tex}>
      {tex}
    </span>
  );
}
