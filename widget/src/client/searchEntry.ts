// Adds a row above the results of the site's own search that asks the docs what was typed. Loaded when the search is first used.

import css from './searchEntry.css';

const ENTRY = 'bookrag-search-entry';
/** The field's row in a search dialog, which has the results below it. */
const DIALOG_FIELD = '.DocSearch-SearchBar, .aa-Form';
/** What contains the entry and the results. */
const RESULTS = '.DocSearch-Modal, .aa-DetachedContainer, [role="listbox"]';

const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

const entries = new WeakMap<HTMLInputElement, HTMLButtonElement>();

/** Shows the entry while something is typed in a search field. */
export function offerToAsk(field: HTMLInputElement, label: string, ask: (question: string) => void): void {
  const isNew = !entries.has(field);
  const entry = entries.get(field) ?? makeEntry(field, ask);
  entries.set(field, entry);
  const show = () => showEntry(entry, field, label);
  show();
  if (!isNew) return;
  // A page that was found may have changed the text.
  field.addEventListener('focus', show);
  // A search on the device makes its list once its index is loaded.
  new MutationObserver(show).observe(field, { attributeFilter: ['aria-owns', 'aria-controls'] });
}

function showEntry(entry: HTMLButtonElement, field: HTMLInputElement, label: string): void {
  const question = field.value.trim();
  entry.textContent = `${label}: ${question}`;
  const dialogField = field.closest(DIALOG_FIELD);
  const list = document.getElementById(field.getAttribute('aria-owns') ?? field.getAttribute('aria-controls') ?? '');
  if (!question || !(dialogField || list)) entry.remove();
  else if (dialogField) {
    if (dialogField.nextElementSibling !== entry) dialogField.after(entry);
  } else if (list && list.firstElementChild !== entry) {
    entry.setAttribute('role', 'option');
    list.prepend(entry);
  }
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
    // Escape closes the site's search as if the reader had pressed it.
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true }));
    field.blur();
    entry.blur();
    entry.remove();
    ask(question);
  });
  entry.addEventListener('keydown', (event) => onEntryKey(event, entry, field));
  // Before the search's own listeners.
  field.addEventListener('keydown', (event) => onFieldKey(event, entry), true);
  for (const type of ['blur', 'focusout'] as const) {
    // For the search, the field keeps the focus while the entry has it.
    field.addEventListener(type, (event) => event.relatedTarget === entry && event.stopImmediatePropagation(), true);
    entry.addEventListener(type, ({ relatedTarget }) => {
      if (relatedTarget !== field) field.dispatchEvent(new FocusEvent(type, { relatedTarget, bubbles: type === 'focusout' }));
    });
  }
  return entry;
}

/** The arrow keys go up from the first result to the entry, and down from the last one. */
function onFieldKey(event: KeyboardEvent, entry: HTMLButtonElement): void {
  // Not a spread: Docusaurus's bundler may compile it like that of an array.
  const options = Array.from(entry.closest(RESULTS)?.querySelectorAll('[role="option"]') ?? []);
  const results = options.filter((option) => option !== entry);
  const selected = results.findIndex((result) => result.getAttribute('aria-selected') === 'true');
  const isUp = event.key === 'ArrowUp' && selected <= 0;
  const isDown = event.key === 'ArrowDown' && selected === results.length - 1;
  if (event.isComposing || entry.offsetParent === null || !(isUp || isDown)) return;
  event.preventDefault();
  // Downwards, the search's own selection goes on to the first result.
  if (isUp) event.stopImmediatePropagation();
  entry.focus();
}

function onEntryKey(event: KeyboardEvent, entry: HTMLButtonElement, field: HTMLInputElement): void {
  if (event.key === 'Escape') entry.blur();
  if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return;
  event.preventDefault();
  event.stopPropagation();
  field.focus();
}
