import type {ReactNode} from 'react';
import Inner from '../_inner.mdx';

export type Unused = ReactNode;
export {Inner as ByStar};
