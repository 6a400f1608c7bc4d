// Adds a button beside the field of the site's own search that asks the book what was typed. Loaded when the search is first used.

import css from './searchEntry.css';

const ENTRY = 'bookrag-search-entry';
/** The button's place: below the field of a search dialog, else beside the field in the navbar. */
const DIALOG_FIELD = '.DocSearch-SearchBar, .aa-Form';
const NAVBAR_FIELD = '.navbar__search';

const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** Shows the button beside a search field while something is typed in it. */
export function offerToAsk(field: HTMLInputElement, label: string, ask: (question: string) => void): void {
  const dialogField = field.closest(DIALOG_FIELD);
  const container = dialogField?.parentElement ?? field.closest(NAVBAR_FIELD);
  if (!container) return;
  const question = field.value.trim();
  let entry = container.querySelector<HTMLButtonElement>(`.${ENTRY}`);
  if (!question) {
    entry?.remove();
    return;
  }
  if (!entry) {
    entry = makeEntry(field, ask);
    if (dialogField) dialogField.after(entry);
    else container.append(entry);
  }
  entry.textContent = `${label}: ${question}`;
}

function makeEntry(field: HTMLInputElement, ask: (question: string) => void): HTMLButtonElement {
  const entry = document.createElement('button');
  entry.type = 'button';
  entry.className = ENTRY;
  entry.dir = 'auto';
  // The search closes when its field loses the focus, before the click.
  entry.addEventListener('mousedown', (event) => event.preventDefault());
  entry.addEventListener('click', () => {
    const question = field.value.trim();
    entry.remove();
    // Escape closes the site's search as if the reader had pressed it.
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true }));
    field.blur();
    ask(question);
  });
  return entry;
}
