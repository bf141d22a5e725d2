import { report } from './report.mjs';

console.log(JSON.stringify(await report()));
