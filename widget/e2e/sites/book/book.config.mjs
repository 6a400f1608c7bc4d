// The book's own configuration with the plugin.
import book from './docusaurus.config.js';
import { faster } from './faster.mjs';

export default {
  ...book,
  future: { faster },
  plugins: [['docusaurus-plugin-bookrag', { url: process.env.ASK_URL, questions: ['How do I calibrate the soil moisture probe?'] }]],
};
