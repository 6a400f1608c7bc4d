import { useEffect, useRef } from 'react';

/** What a formula may grow to: an answer's are short. */
const MAX_EXPANSIONS = 500;
const MAX_EM = 20;

interface FormulaProps {
  tex: string;
  isBlock: boolean;
}

/** A formula as MathML, which needs no style sheet and no fonts. KaTeX is loaded with the first one; until then there is its TeX. */
export function Formula({ tex, isBlock }: FormulaProps) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let isGone = false;
    import('katex').then(
      ({ default: katex }) => {
        // `render` makes elements itself; there is no HTML to be read.
        const settings = { displayMode: isBlock, output: 'mathml', throwOnError: false, errorColor: 'currentcolor', maxExpand: MAX_EXPANSIONS, maxSize: MAX_EM } as const;
        if (!isGone && place.current) katex.render(tex, place.current, settings);
      },
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [tex, isBlock]);
  return (
    <span className={isBlock ? 'bookrag-formula bookrag-formula-block' : 'bookrag-formula'} dir="ltr" ref={place} key={tex}>
      {tex}
    </span>
  );
}
