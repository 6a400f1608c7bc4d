// The book's site without the plugin, to compare with.
import site from './book.config.mjs';

export default { ...site, plugins: [] };
