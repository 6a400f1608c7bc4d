import type { ReactElement } from 'react';

interface ExamplesProps {
  title: ReactElement;
  /** Questions or topics, shown as plain text: their authors may be a model. */
  texts: string[];
  onChoose: (text: string) => void;
}

/** Lists what a reader may ask, each as a button. */
export function Examples({ title, texts, onChoose }: ExamplesProps) {
  if (texts.length === 0) return null;
  return (
    <>
      {title}
      <ul className="bookrag-examples">
        {texts.map((text) => (
          <li key={text}>
            <button type="button" className="bookrag-example" dir="auto" onClick={() => onChoose(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}
