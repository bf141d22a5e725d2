// What a deployment without `npm install` has: the files that Next.js finds by itself, and those that are named here.
const external = process.env.EXTERNAL === '1';

export default {
  output: 'standalone',
  outputFileTracingRoot: import.meta.dirname,
  serverExternalPackages: external ? ['skillwright'] : [],
  outputFileTracingIncludes: external ? { '/**': ['./node_modules/skillwright/**/*'] } : {},
};
