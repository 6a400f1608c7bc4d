import { useEffect, useState } from 'react';
import { useSite } from '../panel/site';
import { pageStringsFor } from './strings';

/** A language or a version of the book. */
export interface Edition {
  name: string;
  /** The beginning of a language's URLs, such as `/ur/`; for a version, the part after that: `docs/1.0/`, empty for the default one. */
  path: string;
}

interface EditionsProps {
  /** The default one first. */
  locales: Edition[];
  versions: Edition[];
  /** Called with the path of the chosen edition, `undefined` for the default one. */
  onChoose: (path: string | undefined) => void;
}

/** Lets the reader choose a language and a version if the book has several. The choice is kept in the page's address. */
export function Editions({ locales, versions, onChoose }: EditionsProps) {
  const { locale: language } = useSite();
  const { bookLocale, bookVersion } = pageStringsFor(language);
  const locale = useChoice('locale', locales);
  const version = useChoice('version', versions);
  const path = locale.isDefault && version.isDefault ? undefined : `${locale.path ?? '/'}${version.path ?? ''}`;
  useEffect(() => {
    onChoose(path);
  }, [path]);
  if (locales.length < 2 && versions.length < 2) return null;

  const languages = new Intl.DisplayNames([language], { type: 'language', fallback: 'code' });
  return (
    <p className="bookrag-editions">
      <Picker label={bookLocale} {...locale} nameOf={(name) => languageName(languages, name)} />
      <Picker label={bookVersion} {...version} nameOf={(name) => name} />
    </p>
  );
}

interface Choice {
  names: string[];
  chosen: string | undefined;
  choose: (name: string) => void;
}

interface EditionChoice extends Choice {
  /** The beginning of the URLs of the chosen edition. */
  path: string | undefined;
  isDefault: boolean;
}

/** A selection stored in a parameter of the page's address. */
function useChoice(parameter: string, editions: Edition[]): EditionChoice {
  const [name, setName] = useState(() => new URLSearchParams(location.search).get(parameter));
  const [first] = editions;
  const chosen = editions.find((edition) => edition.name === name) ?? first;
  const choose = (name: string) => {
    const address = new URL(location.href);
    if (name === first?.name) address.searchParams.delete(parameter);
    else address.searchParams.set(parameter, name);
    history.replaceState(null, '', address);
    setName(name);
  };
  return { names: editions.map(({ name }) => name), chosen: chosen?.name, path: chosen?.path, isDefault: chosen === first, choose };
}

/** Offers names to choose from if there are several, by what they are called. */
export function Picker({ label, names, chosen, choose, nameOf }: Choice & { label: string; nameOf: (name: string) => string }) {
  if (names.length < 2) return null;
  return (
    <select aria-label={label} title={label} value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
      {names.map((name) => (
        <option key={name} value={name}>
          {nameOf(name)}
        </option>
      ))}
    </select>
  );
}

/** Returns a locale's name; the locale itself if it is not a standard one. */
function languageName(languages: Intl.DisplayNames, locale: string): string {
  try {
    return languages.of(locale) ?? locale;
  } catch {
    return locale;
  }
}
