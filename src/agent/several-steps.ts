const LIST_ITEM = /^[ \t]{0,8}(?:[-*+•]|\d{1,3}[.)、])[ \t]?\S/gm;
const SEQUENCE =
  /\b(?:then|afterwards|after that|finally|first(?:ly)?|second(?:ly)?|next|steps?|plan|todos?)\b|然后|接着|最后|首先|其次|步骤|计划|待办/i;
const WORDS = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]|[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+/gu;
/** A longer request rarely asks for one thing. */
const MANY_WORDS = 60;

/** Whether a request names several things to do, so that the model is offered a tool for its plan from the first request on. */
export function hasSeveralSteps(request: string): boolean {
  if (SEQUENCE.test(request) || (request.match(LIST_ITEM)?.length ?? 0) >= 2) return true;
  return (request.match(WORDS)?.length ?? 0) >= MANY_WORDS;
}
