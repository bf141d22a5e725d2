export const CHINESE: Readonly<Record<string, string>> = {};
