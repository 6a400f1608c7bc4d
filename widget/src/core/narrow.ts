/** Below this width the panel hides what it leads to, and is modal: it makes way for a passage. The same condition as in panel.css. */
export const NARROW = '(max-width: 62.49rem), (max-height: 26rem)';
