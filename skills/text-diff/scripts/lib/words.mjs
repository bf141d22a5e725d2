// Pairs removed lines with the added lines that took their place, and compares such pairs word by word.
import { differences, matchLists, numberKeys } from './match.mjs';

const TOKEN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu;
const MAX_LINE = 4_000;
const MAX_BLOCK = 2_000;
const WINDOW = 5;
const ALIKE = 0.4;

export const tokens = (text) => text.match(TOKEN) ?? [];

function bagOf(text) {
  const bag = new Map();
  let size = 0;
  for (const token of text.length > MAX_LINE ? [] : tokens(text)) {
    if (token.trim() === '') continue;
    bag.set(token, (bag.get(token) ?? 0) + 1);
    size += token.length;
  }
  return { bag, size };
}

/** 0 to 1: how many of the characters sit in words that both lines have. */
function likeness(one, other) {
  if (one.size + other.size === 0) return 0;
  let common = 0;
  for (const [token, count] of one.bag) common += token.length * Math.min(count, other.bag.get(token) ?? 0);
  return (2 * common) / (one.size + other.size);
}

/** Pairs of [old index, new index] within one block, in order. */
export function pairLines(oldTexts, newTexts) {
  if (oldTexts.length > MAX_BLOCK || newTexts.length > MAX_BLOCK) return [];
  const oldBags = oldTexts.map(bagOf);
  const newBags = newTexts.map(bagOf);
  const pairs = [];
  let next = 0;
  for (const [at, bag] of oldBags.entries()) {
    let best = { score: ALIKE, place: -1 };
    for (let place = next; place < Math.min(next + WINDOW, newBags.length); place += 1) {
      const score = likeness(bag, newBags[place]);
      if (score > best.score) best = { score, place };
    }
    if (best.place < 0) continue;
    pairs.push([at, best.place]);
    next = best.place + 1;
  }
  return pairs;
}

/** The words of a changed line: [{ op: 'same' | 'removed' | 'added', text }]. */
export function compareWords(oldText, newText) {
  const [oldTokens, newTokens] = [tokens(oldText), tokens(newText)];
  const { match } = matchLists(...numberKeys(oldTokens, newTokens), 400);
  const parts = [];
  const push = (op, list) => {
    if (list.length > 0) parts.push({ op, text: list.join('') });
  };
  let at = 0;
  for (const [oldStart, oldEnd, newStart, newEnd] of differences(match, newTokens.length)) {
    push('same', oldTokens.slice(at, oldStart));
    push('removed', oldTokens.slice(oldStart, oldEnd));
    push('added', newTokens.slice(newStart, newEnd));
    at = oldEnd;
  }
  push('same', oldTokens.slice(at));
  return parts;
}
