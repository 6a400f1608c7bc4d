/** The texts of the page of `bookrag serve`, in addition to the panel's. */
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

// These are machine-translated, and not yet read by native speakers.
const de: PageStrings = {
  facts: 'Seiten: {pages}. Abschnitte: {passages}.',
  nothingIndexed: 'Von diesem Buch ist noch nichts im Index.',
  indexing: 'Der Index entsteht: {done} von {total} Seiten. Bis der Rest da ist, kommen die Antworten aus diesen Seiten.',
  indexingBegins: 'Der Index wird begonnen: Die Seiten werden gelesen.',
  notReached: 'Das Buch konnte nicht gelesen werden. Läuft bookrag noch?',
  keys: 'Enter fragt, Umschalt+Enter beginnt eine neue Zeile, Esc hält an, / kehrt hierher zurück',
  lines: '{file}, Zeilen {from} bis {to}',
  copyCode: 'Kopieren',
  sources: 'Quellen (öffnen sich in einem zweiten Tab)',
  bookLocale: 'Sprache des Buches',
  bookVersion: 'Version des Buches',
  api: 'API-Referenz',
};

const es: PageStrings = {
  facts: 'Páginas: {pages}. Pasajes: {passages}.',
  nothingIndexed: 'Todavía no se ha indexado nada de este libro.',
  indexing: 'Indexando: {done} de {total} páginas. Hasta que estén todas, las respuestas salen de estas.',
  indexingBegins: 'Empieza la indexación: se están leyendo las páginas.',
  notReached: 'No se pudo leer el libro. ¿Sigue bookrag en marcha?',
  keys: 'Intro pregunta, Mayús+Intro empieza una línea nueva, Esc detiene, / vuelve aquí',
  lines: '{file}, líneas {from} a {to}',
  copyCode: 'Copiar',
  sources: 'Fuentes (se abren en una segunda pestaña)',
  bookLocale: 'Idioma del libro',
  bookVersion: 'Versión del libro',
  api: 'Referencia de la API',
};

const fr: PageStrings = {
  facts: 'Pages : {pages}. Passages : {passages}.',
  nothingIndexed: 'Rien de ce livre n’est encore indexé.',
  indexing: 'Indexation : {done} pages sur {total}. En attendant les autres, les réponses viennent de ces pages.',
  indexingBegins: 'L’indexation commence : lecture des pages.',
  notReached: 'Impossible de lire le livre. bookrag tourne-t-il encore ?',
  keys: 'Entrée pose la question, Maj+Entrée commence une nouvelle ligne, Échap arrête, / revient ici',
  lines: '{file}, lignes {from} à {to}',
  copyCode: 'Copier',
  sources: 'Sources (s’ouvrent dans un second onglet)',
  bookLocale: 'Langue du livre',
  bookVersion: 'Version du livre',
  api: 'Référence de l’API',
};

const ja: PageStrings = {
  facts: 'ページ数：{pages}、節の数：{passages}',
  nothingIndexed: 'この本はまだ索引されていません。',
  indexing: '索引を作成中：{total} ページ中 {done} ページ。完了するまで、回答はこれらのページに基づきます。',
  indexingBegins: '索引の作成を開始しました。ページを読み込んでいます。',
  notReached: '本を読み込めませんでした。bookrag は動作していますか？',
  keys: 'Enter で質問、Shift+Enter で改行、Esc で停止、/ でここに戻る',
  lines: '{file}、{from}～{to} 行目',
  copyCode: 'コピー',
  sources: '出典（別のタブで開きます）',
  bookLocale: '本の言語',
  bookVersion: '本のバージョン',
  api: 'API リファレンス',
};

const ko: PageStrings = {
  facts: '페이지 {pages}개, 구절 {passages}개',
  nothingIndexed: '이 책은 아직 색인되지 않았습니다.',
  indexing: '색인 중: {total}페이지 중 {done}페이지. 나머지가 끝날 때까지 이 페이지들에서 답합니다.',
  indexingBegins: '색인을 시작합니다. 페이지를 읽고 있습니다.',
  notReached: '책을 읽을 수 없습니다. bookrag가 실행 중인가요?',
  keys: 'Enter로 질문, Shift+Enter로 줄 바꿈, Esc로 중지, /로 여기로 돌아오기',
  lines: '{file}, {from}~{to}행',
  copyCode: '복사',
  sources: '출처(다른 탭에서 열림)',
  bookLocale: '책의 언어',
  bookVersion: '책의 버전',
  api: 'API 참조',
};

const pt: PageStrings = {
  facts: 'Páginas: {pages}. Trechos: {passages}.',
  nothingIndexed: 'Nada deste livro foi indexado ainda.',
  indexing: 'Indexando: {done} de {total} páginas. Até terminar, as respostas vêm destas páginas.',
  indexingBegins: 'A indexação começou: as páginas estão sendo lidas.',
  notReached: 'Não foi possível ler o livro. O bookrag ainda está em execução?',
  keys: 'Enter pergunta, Shift+Enter começa uma nova linha, Esc para, / volta para cá',
  lines: '{file}, linhas {from} a {to}',
  copyCode: 'Copiar',
  sources: 'Fontes (abrem em uma segunda aba)',
  bookLocale: 'Idioma do livro',
  bookVersion: 'Versão do livro',
  api: 'Referência da API',
};

const uk: PageStrings = {
  facts: 'Сторінок: {pages}. Уривків: {passages}.',
  nothingIndexed: 'Цю книгу ще не проіндексовано.',
  indexing: 'Індексування: {done} із {total} сторінок. Поки решта не готова, відповіді беруться з цих сторінок.',
  indexingBegins: 'Індексування починається: сторінки читаються.',
  notReached: 'Не вдалося прочитати книгу. Чи bookrag ще працює?',
  keys: 'Enter ставить запитання, Shift+Enter починає новий рядок, Esc зупиняє, / повертає сюди',
  lines: '{file}, рядки {from}–{to}',
  copyCode: 'Копіювати',
  sources: 'Джерела (відкриваються в другій вкладці)',
  bookLocale: 'Мова книги',
  bookVersion: 'Версія книги',
  api: 'Довідник API',
};

const zh: PageStrings = {
  facts: '页面：{pages}，段落：{passages}',
  nothingIndexed: '本书尚未建立索引。',
  indexing: '正在建立索引：{total} 页中的 {done} 页。完成之前，回答来自这些页面。',
  indexingBegins: '开始建立索引：正在读取页面。',
  notReached: '无法读取本书。bookrag 还在运行吗？',
  keys: 'Enter 提问，Shift+Enter 换行，Esc 停止，/ 回到此处',
  lines: '{file}，第 {from}–{to} 行',
  copyCode: '复制',
  sources: '来源（在第二个标签页中打开）',
  bookLocale: '本书的语言',
  bookVersion: '本书的版本',
  api: 'API 参考',
};

const LANGUAGES: Record<string, PageStrings> = { de, en, es, fr, ja, ko, pt, uk, ur, zh };

/** Returns the page's texts in a language of the panel. */
export function pageStringsFor(language: string): PageStrings {
  return LANGUAGES[language] ?? en;
}
