/** What the page of `bookrag serve` says beside the panel's strings. */
export interface PageStrings {
  facts: string;
  nothingIndexed: string;
  indexing: string;
  indexingBegins: string;
  notReached: string;
  keys: string;
  lines: string;
  copyCode: string;
  sources: string;
  bookLocale: string;
  bookVersion: string;
  api: string;
}

const en: PageStrings = {
  facts: 'Pages: {pages}. Passages: {passages}.',
  nothingIndexed: 'Nothing of this book is indexed yet.',
  indexing: 'Indexing: {done} of {total} pages. Answers come from these pages until the rest is there.',
  indexingBegins: 'Indexing begins: the pages are being read.',
  notReached: 'The book could not be read. Is bookrag still running?',
  keys: 'Enter asks, Shift+Enter starts a new line, Esc stops, / returns here',
  lines: '{file}, lines {from} to {to}',
  copyCode: 'Copy',
  sources: 'Sources (open in a second tab)',
  bookLocale: 'Language of the book',
  bookVersion: 'Version of the book',
  api: 'API reference',
};

const ur: PageStrings = {
  facts: 'صفحات: {pages}۔ اقتباسات: {passages}۔',
  nothingIndexed: 'اس کتاب کی فہرست ابھی نہیں بنی۔',
  indexing: 'فہرست بن رہی ہے: {total} میں سے {done} صفحات۔ باقی صفحات آنے تک جوابات انہی صفحات سے ہیں۔',
  indexingBegins: 'فہرست بننا شروع ہو گئی ہے: صفحات پڑھے جا رہے ہیں۔',
  notReached: 'کتاب پڑھی نہیں جا سکی۔ کیا bookrag اب بھی چل رہا ہے؟',
  keys: 'Enter سے سوال بھیجیں، Shift+Enter سے نئی سطر شروع کریں، Esc سے روکیں، / سے یہاں واپس آئیں',
  lines: '{file}، سطر {from} تا {to}',
  copyCode: 'نقل کریں',
  sources: 'ماخذ (دوسرے ٹیب میں کھلتے ہیں)',
  bookLocale: 'کتاب کی زبان',
  bookVersion: 'کتاب کا ورژن',
  api: 'API کا حوالہ',
};

export function pageStringsFor(locale: string): PageStrings {
  return /^ur\b/.test(locale) ? ur : en;
}
