// The example's own configuration with the faster bundler.
import example from './docusaurus.config.js';
import { faster } from './faster.mjs';

export default { ...example, future: { faster } };
