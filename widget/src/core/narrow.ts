/** Below this width the panel covers the page and is modal, so it closes when a citation is followed. Same condition as in panel.css. */
export const NARROW = '(max-width: 62.49rem), (max-height: 26rem)';
