import { existsSync } from 'node:fs';

/** The Python of the system: that of a version manager is a shell script, which starts dozens of programs before Python. */
export const PYTHON = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
