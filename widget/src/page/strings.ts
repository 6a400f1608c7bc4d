import type { Strings } from '../core/strings';

/** The texts of the page of `bookrag serve`: some in place of the panel's, whose reader may be on the pages of a book. */
export interface PageStrings extends Pick<Strings, 'title' | 'welcome' | 'waiting' | 'reading' | 'results' | 'keys' | 'sources'> {
  facts: string;
  nothingIndexed: string;
  indexing: string;
  indexingBegins: string;
  notReached: string;
  lines: string;
  copyCode: string;
  bookLocale: string;
  bookVersion: string;
  /** The choice between the docs of a server that has several, and its first entry. */
  docs: string;
  allDocs: string;
  api: string;
  insights: string;
  /** Labels of the button that changes the colours. */
  light: string;
  dark: string;
}

const en: PageStrings = {
  title: 'Ask the docs',
  welcome: 'Answers come from these pages alone, and their numbers lead to the passages they come from. If the docs do not say, you are told so.',
  waiting: 'Reading the docs',
  reading: 'Reading {count} sections of the docs',
  results: 'Pages of the docs',
  facts: 'Pages: {pages}. Passages: {passages}.',
  nothingIndexed: 'No page is indexed yet.',
  indexing: 'Indexing: {done} of {total} pages. Answers come from these pages until the rest is there.',
  indexingBegins: 'Indexing begins: the pages are being read.',
  notReached: 'The server cannot be reached. Is bookrag still running?',
  keys: 'Enter asks, Shift+Enter starts a new line, Esc stops, / returns here',
  lines: '{file}, lines {from} to {to}',
  copyCode: 'Copy',
  sources: 'Sources (open in a second tab)',
  bookLocale: 'Language of the docs',
  bookVersion: 'Version of the docs',
  docs: 'Docs',
  allDocs: 'All docs',
  api: 'API reference',
  insights: 'What readers asked',
  light: 'Use light colours',
  dark: 'Use dark colours',
};

const ur: PageStrings = {
  title: 'دستاویزات سے پوچھیں',
  welcome: 'جواب صرف انہی صفحات سے دیا جاتا ہے، اور اس میں درج نمبر اُن اقتباسات تک لے جاتے ہیں جن سے جواب لیا گیا ہے۔ جو بات ان میں نہ ہو، وہ صاف بتا دی جاتی ہے۔',
  waiting: 'دستاویزات دیکھی جا رہی ہیں',
  reading: 'دستاویزات کے {count} حصے پڑھے جا رہے ہیں',
  results: 'دستاویزات کے صفحات',
  facts: 'صفحات: {pages}۔ اقتباسات: {passages}۔',
  nothingIndexed: 'ابھی کسی صفحے کی فہرست نہیں بنی۔',
  indexing: 'فہرست بن رہی ہے: {total} میں سے {done} صفحات۔ باقی صفحات آنے تک جوابات انہی صفحات سے ہیں۔',
  indexingBegins: 'فہرست بننا شروع ہو گئی ہے: صفحات پڑھے جا رہے ہیں۔',
  notReached: 'سرور تک رسائی نہیں ہو سکی۔ کیا bookrag اب بھی چل رہا ہے؟',
  keys: 'Enter سے سوال بھیجیں، Shift+Enter سے نئی سطر شروع کریں، Esc سے روکیں، / سے یہاں واپس آئیں',
  lines: '{file}، سطر {from} تا {to}',
  copyCode: 'نقل کریں',
  sources: 'ماخذ (دوسرے ٹیب میں کھلتے ہیں)',
  bookLocale: 'دستاویزات کی زبان',
  bookVersion: 'دستاویزات کا ورژن',
  docs: 'دستاویزات',
  allDocs: 'تمام دستاویزات',
  api: 'API کا حوالہ',
  insights: 'قارئین نے کیا پوچھا',
  light: 'ہلکے رنگ استعمال کریں',
  dark: 'گہرے رنگ استعمال کریں',
};

// These are machine-translated, and not yet read by native speakers.
const de: PageStrings = {
  title: 'Die Dokumentation fragen',
  welcome: 'Die Antworten stammen allein aus diesen Seiten, und ihre Nummern führen zu den Stellen, aus denen sie kommen. Wenn die Dokumentation nichts dazu sagt, erfahren Sie es.',
  waiting: 'Die Dokumentation wird gelesen',
  reading: '{count} Abschnitte der Dokumentation werden gelesen',
  results: 'Seiten der Dokumentation',
  facts: 'Seiten: {pages}. Abschnitte: {passages}.',
  nothingIndexed: 'Noch keine Seite ist im Index.',
  indexing: 'Der Index entsteht: {done} von {total} Seiten. Bis der Rest da ist, kommen die Antworten aus diesen Seiten.',
  indexingBegins: 'Der Index wird begonnen: Die Seiten werden gelesen.',
  notReached: 'Der Server ist nicht erreichbar. Läuft bookrag noch?',
  keys: 'Enter fragt, Umschalt+Enter beginnt eine neue Zeile, Esc hält an, / kehrt hierher zurück',
  lines: '{file}, Zeilen {from} bis {to}',
  copyCode: 'Kopieren',
  sources: 'Quellen (öffnen sich in einem zweiten Tab)',
  bookLocale: 'Sprache der Dokumentation',
  bookVersion: 'Version der Dokumentation',
  docs: 'Dokumentation',
  allDocs: 'Alle Dokumentationen',
  api: 'API-Referenz',
  insights: 'Was gefragt wurde',
  light: 'Helle Farben verwenden',
  dark: 'Dunkle Farben verwenden',
};

const es: PageStrings = {
  title: 'Preguntar a la documentación',
  welcome: 'Las respuestas salen solo de estas páginas, y sus números llevan a los pasajes de los que proceden. Si la documentación no lo dice, se le indica.',
  waiting: 'Leyendo la documentación',
  reading: 'Leyendo {count} secciones de la documentación',
  results: 'Páginas de la documentación',
  facts: 'Páginas: {pages}. Pasajes: {passages}.',
  nothingIndexed: 'Todavía no se ha indexado ninguna página.',
  indexing: 'Indexando: {done} de {total} páginas. Hasta que estén todas, las respuestas salen de estas.',
  indexingBegins: 'Empieza la indexación: se están leyendo las páginas.',
  notReached: 'No se puede conectar con el servidor. ¿Sigue bookrag en marcha?',
  keys: 'Intro pregunta, Mayús+Intro empieza una línea nueva, Esc detiene, / vuelve aquí',
  lines: '{file}, líneas {from} a {to}',
  copyCode: 'Copiar',
  sources: 'Fuentes (se abren en una segunda pestaña)',
  bookLocale: 'Idioma de la documentación',
  bookVersion: 'Versión de la documentación',
  docs: 'Documentación',
  allDocs: 'Toda la documentación',
  api: 'Referencia de la API',
  insights: 'Qué se preguntó',
  light: 'Usar colores claros',
  dark: 'Usar colores oscuros',
};

const fr: PageStrings = {
  title: 'Interroger la documentation',
  welcome: 'Les réponses sont tirées de ces seules pages, et leurs numéros mènent aux passages dont elles proviennent. Si la documentation n’en dit rien, cela vous est signalé.',
  waiting: 'Lecture de la documentation',
  reading: 'Lecture de {count} sections de la documentation',
  results: 'Pages de la documentation',
  facts: 'Pages : {pages}. Passages : {passages}.',
  nothingIndexed: 'Aucune page n’est encore indexée.',
  indexing: 'Indexation : {done} pages sur {total}. En attendant les autres, les réponses viennent de ces pages.',
  indexingBegins: 'L’indexation commence : lecture des pages.',
  notReached: 'Le serveur est injoignable. bookrag tourne-t-il encore ?',
  keys: 'Entrée pose la question, Maj+Entrée commence une nouvelle ligne, Échap arrête, / revient ici',
  lines: '{file}, lignes {from} à {to}',
  copyCode: 'Copier',
  sources: 'Sources (s’ouvrent dans un second onglet)',
  bookLocale: 'Langue de la documentation',
  bookVersion: 'Version de la documentation',
  docs: 'Documentation',
  allDocs: 'Toute la documentation',
  api: 'Référence de l’API',
  insights: 'Questions posées',
  light: 'Utiliser des couleurs claires',
  dark: 'Utiliser des couleurs sombres',
};

const ja: PageStrings = {
  title: 'ドキュメントに質問する',
  welcome: '回答はこれらのページだけから作られ、番号をたどると元の箇所に移動します。書かれていない場合は、その旨をお知らせします。',
  waiting: 'ドキュメントを読んでいます',
  reading: 'ドキュメントの {count} 個の節を読んでいます',
  results: 'ドキュメントのページ',
  facts: 'ページ数：{pages}、節の数：{passages}',
  nothingIndexed: 'まだ索引されたページはありません。',
  indexing: '索引を作成中：{total} ページ中 {done} ページ。完了するまで、回答はこれらのページに基づきます。',
  indexingBegins: '索引の作成を開始しました。ページを読み込んでいます。',
  notReached: 'サーバーに接続できません。bookrag は動作していますか？',
  keys: 'Enter で質問、Shift+Enter で改行、Esc で停止、/ でここに戻る',
  lines: '{file}、{from}～{to} 行目',
  copyCode: 'コピー',
  sources: '出典（別のタブで開きます）',
  bookLocale: 'ドキュメントの言語',
  bookVersion: 'ドキュメントのバージョン',
  docs: 'ドキュメント',
  allDocs: 'すべてのドキュメント',
  api: 'API リファレンス',
  insights: '読者の質問',
  light: '明るい配色にする',
  dark: '暗い配色にする',
};

const ko: PageStrings = {
  title: '문서에 질문하기',
  welcome: '답변은 이 페이지들에서만 가져오며, 번호를 누르면 출처가 되는 구절로 이동합니다. 문서에 없는 내용이면 그렇다고 알려 드립니다.',
  waiting: '문서를 읽는 중',
  reading: '문서의 섹션 {count}개를 읽는 중',
  results: '문서의 페이지',
  facts: '페이지 {pages}개, 구절 {passages}개',
  nothingIndexed: '아직 색인된 페이지가 없습니다.',
  indexing: '색인 중: {total}페이지 중 {done}페이지. 나머지가 끝날 때까지 이 페이지들에서 답합니다.',
  indexingBegins: '색인을 시작합니다. 페이지를 읽고 있습니다.',
  notReached: '서버에 연결할 수 없습니다. bookrag가 실행 중인가요?',
  keys: 'Enter로 질문, Shift+Enter로 줄 바꿈, Esc로 중지, /로 여기로 돌아오기',
  lines: '{file}, {from}~{to}행',
  copyCode: '복사',
  sources: '출처(다른 탭에서 열림)',
  bookLocale: '문서의 언어',
  bookVersion: '문서의 버전',
  docs: '문서',
  allDocs: '모든 문서',
  api: 'API 참조',
  insights: '독자의 질문',
  light: '밝은 색상 사용',
  dark: '어두운 색상 사용',
};

const pt: PageStrings = {
  title: 'Pergunte à documentação',
  welcome: 'As respostas vêm apenas destas páginas, e seus números levam aos trechos de onde elas saíram. Se a documentação não disser, você será avisado.',
  waiting: 'Lendo a documentação',
  reading: 'Lendo {count} seções da documentação',
  results: 'Páginas da documentação',
  facts: 'Páginas: {pages}. Trechos: {passages}.',
  nothingIndexed: 'Nenhuma página foi indexada ainda.',
  indexing: 'Indexando: {done} de {total} páginas. Até terminar, as respostas vêm destas páginas.',
  indexingBegins: 'A indexação começou: as páginas estão sendo lidas.',
  notReached: 'Não foi possível acessar o servidor. O bookrag ainda está em execução?',
  keys: 'Enter pergunta, Shift+Enter começa uma nova linha, Esc para, / volta para cá',
  lines: '{file}, linhas {from} a {to}',
  copyCode: 'Copiar',
  sources: 'Fontes (abrem em uma segunda aba)',
  bookLocale: 'Idioma da documentação',
  bookVersion: 'Versão da documentação',
  docs: 'Documentação',
  allDocs: 'Toda a documentação',
  api: 'Referência da API',
  insights: 'O que foi perguntado',
  light: 'Usar cores claras',
  dark: 'Usar cores escuras',
};

const uk: PageStrings = {
  title: 'Запитати документацію',
  welcome: 'Відповіді беруться лише з цих сторінок, а їхні номери ведуть до уривків, з яких вони взяті. Якщо в документації цього немає, вам про це скажуть.',
  waiting: 'Читання документації',
  reading: 'Читання розділів документації: {count}',
  results: 'Сторінки документації',
  facts: 'Сторінок: {pages}. Уривків: {passages}.',
  nothingIndexed: 'Ще жодної сторінки не проіндексовано.',
  indexing: 'Індексування: {done} із {total} сторінок. Поки решта не готова, відповіді беруться з цих сторінок.',
  indexingBegins: 'Індексування починається: сторінки читаються.',
  notReached: 'Сервер недоступний. Чи bookrag ще працює?',
  keys: 'Enter ставить запитання, Shift+Enter починає новий рядок, Esc зупиняє, / повертає сюди',
  lines: '{file}, рядки {from}–{to}',
  copyCode: 'Копіювати',
  sources: 'Джерела (відкриваються в другій вкладці)',
  bookLocale: 'Мова документації',
  bookVersion: 'Версія документації',
  docs: 'Документація',
  allDocs: 'Уся документація',
  api: 'Довідник API',
  insights: 'Що запитували',
  light: 'Світлі кольори',
  dark: 'Темні кольори',
};

const zh: PageStrings = {
  title: '向文档提问',
  welcome: '答案只来自这些页面，编号指向其出处。如果文档中没有提到，会直接告诉您。',
  waiting: '正在阅读文档',
  reading: '正在阅读文档中的 {count} 个小节',
  results: '文档的页面',
  facts: '页面：{pages}，段落：{passages}',
  nothingIndexed: '尚未索引任何页面。',
  indexing: '正在建立索引：{total} 页中的 {done} 页。完成之前，回答来自这些页面。',
  indexingBegins: '开始建立索引：正在读取页面。',
  notReached: '无法连接服务器。bookrag 还在运行吗？',
  keys: 'Enter 提问，Shift+Enter 换行，Esc 停止，/ 回到此处',
  lines: '{file}，第 {from}–{to} 行',
  copyCode: '复制',
  sources: '来源（在第二个标签页中打开）',
  bookLocale: '文档的语言',
  bookVersion: '文档的版本',
  docs: '文档',
  allDocs: '所有文档',
  api: 'API 参考',
  insights: '读者的提问',
  light: '使用浅色',
  dark: '使用深色',
};

const LANGUAGES: Record<string, PageStrings> = { de, en, es, fr, ja, ko, pt, uk, ur, zh };

/** Returns the page's texts in a language of the panel. */
export function pageStringsFor(language: string): PageStrings {
  return LANGUAGES[language] ?? en;
}
