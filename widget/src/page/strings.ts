/** What the page of `bookrag serve` says beside the panel's strings. */
export interface PageStrings {
  facts: string;
  nothingIndexed: string;
  notReached: string;
  keys: string;
  lines: string;
  copyCode: string;
}

const en: PageStrings = {
  facts: 'Pages: {pages}. Passages: {passages}.',
  nothingIndexed: 'Nothing of this book is indexed yet.',
  notReached: 'The book could not be read. Is bookrag still running?',
  keys: 'Enter asks, Shift+Enter starts a new line, Esc stops, / returns here',
  lines: '{file}, lines {from} to {to}',
  copyCode: 'Copy',
};

const ur: PageStrings = {
  facts: 'صفحات: {pages}۔ اقتباسات: {passages}۔',
  nothingIndexed: 'اس کتاب کی فہرست ابھی نہیں بنی۔',
  notReached: 'کتاب پڑھی نہیں جا سکی۔ کیا bookrag اب بھی چل رہا ہے؟',
  keys: 'Enter سے سوال بھیجیں، Shift+Enter سے نئی سطر شروع کریں، Esc سے روکیں، / سے یہاں واپس آئیں',
  lines: '{file}، سطر {from} تا {to}',
  copyCode: 'نقل کریں',
};

export function pageStringsFor(locale: string): PageStrings {
  return /^ur\b/.test(locale) ? ur : en;
}
