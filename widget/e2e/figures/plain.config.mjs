// The book's site without the plugin, for comparison.
import site from './book.config.mjs';

export default { ...site, plugins: [] };
