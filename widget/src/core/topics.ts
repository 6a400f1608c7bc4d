// The topics offered on an empty panel if the site names no questions: headings of the open page, else titles of the book's pages.

const MAX_TOPICS = 4;
/** The fewest topics that represent a page. */
const MIN_TOPICS = 2;
/** A heading of one word (`Usage`) is too vague to ask about, and a long one does not fit on a line. */
const TOPIC = /^(?=.{5,70}$)\S+\s+\S/;

/** Returns the headings of the page that is shown, or topics of the whole book if it has too few. */
export function topicsOfPage(page: ParentNode, bookTopics: string[]): string[] {
  const headings = Array.from(page.querySelectorAll('article .markdown h2'), headingText);
  const topics = distinct(headings).filter(isTopic).slice(0, MAX_TOPICS);
  return topics.length < MIN_TOPICS ? bookTopics : topics;
}

/** Picks topics from the titles of a book's pages, evenly from its beginning to its end. */
export function topicsOfBook(titles: string[]): string[] {
  const topics = distinct(titles).filter(isTopic);
  const length = Math.min(MAX_TOPICS, topics.length);
  return Array.from({ length }, (_, at) => topics[Math.floor((at * topics.length) / length)] ?? '');
}

/** Does not spread a set, because Docusaurus's bundler may compile that like the spread of an array. */
function distinct(texts: string[]): string[] {
  return Array.from(new Set(texts));
}

function isTopic(text: string): boolean {
  return TOPIC.test(text);
}

/** A heading's text without the sign of its link. */
function headingText(heading: Element): string {
  const nodes = Array.from(heading.childNodes).filter((node) => !(node instanceof Element && node.matches('.hash-link')));
  return nodes.map((node) => node.textContent).join('').trim();
}
