/** A fixed path instead of `PATH`: a program named perl in a project must not become the sandbox. */
export const PERL = '/usr/bin/perl';
/** For perl outside of a sandbox. */
export const OUTER_ENV = { PATH: '/usr/bin:/bin' };
