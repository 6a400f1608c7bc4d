import Shared from '../_shared.mdx';

export {default as PassedOn} from '../_passed-on.mdx';
export {Shared as SharedByModule};
export * from './more';
