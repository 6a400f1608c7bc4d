/** What the page of `bookrag serve` says beside the panel's strings. */
export interface PageStrings {
  facts: string;
  nothingIndexed: string;
  notReached: string;
}

const en: PageStrings = {
  facts: 'Pages: {pages}. Passages: {passages}.',
  nothingIndexed: 'Nothing of this book is indexed yet.',
  notReached: 'The book could not be read. Is bookrag still running?',
};

const ur: PageStrings = {
  facts: 'صفحات: {pages}۔ اقتباسات: {passages}۔',
  nothingIndexed: 'اس کتاب کی فہرست ابھی نہیں بنی۔',
  notReached: 'کتاب پڑھی نہیں جا سکی۔ کیا bookrag اب بھی چل رہا ہے؟',
};

export function pageStringsFor(locale: string): PageStrings {
  return /^ur\b/.test(locale) ? ur : en;
}
